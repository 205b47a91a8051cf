// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// Exports of KeePass and KeePassXC: XML, or CSV.
struct KeePassSource: ImportSource {
    private var source: (any ImportSource)?

    mutating func take(_ byte: UInt8, line: Int, _ put: Put) throws(ImportError) {
        if source == nil { source = Self.source(begunWith: byte) }
        try source?.take(byte, line: line, put)
    }

    mutating func finish(_ put: Put) throws(ImportError) {
        var source = source ?? CSVSource()
        try source.finish(put)
    }

    private static func source(begunWith byte: UInt8) -> any ImportSource {
        byte == UInt8(ascii: "<") ? ImportWhole(KeePassText.read) : CSVSource()
    }
}

/// The XML of KeePass 2, which is also inside a KDBX file.
struct KeePassText {
    /// The most earlier passwords of an entry that are imported; limited since each is compared
    /// with the others.
    private static let mostEarlier = 256

    private var xml: XMLReader
    /// The identifier of the group of deleted entries.
    private var recycleBin: [UInt8]?

    static func read(_ text: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        var keePass = KeePassText(xml: XMLReader(text))
        guard try keePass.xml.child() == "KeePassFile" else { throw keePass.xml.malformed }
        while let name = try keePass.xml.child() {
            switch name {
            case "Meta": try keePass.takeMeta()
            case "Root": try keePass.takeGroup(in: "", isDeleted: false, put)
            default: try keePass.xml.skip()
            }
        }
        guard try keePass.xml.child() == nil else { throw keePass.xml.malformed }
    }

    private init(xml: XMLReader) { self.xml = xml }

    private mutating func takeMeta() throws(ImportError) {
        var isUsed = true
        while let name = try xml.child() {
            switch name {
            case "RecycleBinEnabled":
                let content = try xml.content()
                isUsed = !content.says("false", in: 0..<content.count)
            case "RecycleBinUUID": recycleBin = try identifier()
            default: try xml.skip()
            }
        }
        if !isUsed { recycleBin = nil }
    }

    /// Also reads the root, which has groups like a group does.
    private mutating func takeGroup(
        in parent: String, isDeleted: Bool, _ put: ImportSource.Put
    ) throws(ImportError) {
        var folder = parent
        var isDeleted = isDeleted
        while let name = try xml.child() {
            let line = xml.line
            switch name {
            case "UUID":
                let found = try identifier()
                if let found, found == recycleBin { isDeleted = true }
            case "Name":
                let name = try plainText()
                folder = parent.isEmpty ? name : parent + "/" + name
            case "Notes": if try xml.content().count > 0 { try put(.rest(line)) }
            case "Group": try takeGroup(in: folder, isDeleted: isDeleted, put)
            // Deleted entries are not imported.
            case "Entry" where isDeleted:
                try xml.skip()
                try put(.rest(line))
            case "Entry": try takeEntry(in: folder, put)
            default: try xml.skip()
            }
        }
    }

    private mutating func takeEntry(
        in folder: String, _ put: ImportSource.Put
    ) throws(ImportError) {
        var entry = ImportEntry(line: xml.line)
        entry.folder = folder
        let notes = NoteLines()
        var address: SplitAddress?
        var earlier: [Earlier] = []
        while let name = try xml.child() {
            let line = xml.line
            switch name {
            case "String":
                let (key, value) = try pair()
                if key == "URL" {
                    address = SplitAddress(value, 0..<value.count)
                } else {
                    Self.take(key, value, &entry, notes)
                }
            case "History": try takeHistory(&earlier, of: entry, put)
            // A file attached by the user.
            case "Binary":
                try xml.skip()
                try put(.rest(line))
            default: try xml.skip()
            }
        }
        if let address { entry.take(address, notes) }
        // The password may have come after the earlier ones.
        let others = earlier.filter { !entry.hasPassword($0.secret) }
        for old in others.prefix(Self.mostEarlier) {
            notes.add(old.secret, name: "earlier password")
        }
        for old in others.dropFirst(Self.mostEarlier) { try put(.rest(old.line)) }
        entry.notes = notes.contents
        try put(entry)
    }

    private static func take(
        _ key: String, _ value: SecretBuffer, _ entry: inout ImportEntry, _ notes: NoteLines
    ) {
        let whole = 0..<value.count
        switch key {
        case "Title": entry.title = value.text(whole) ?? ""
        case "UserName": entry.account = value.text(whole) ?? ""
        case "Password": entry.password = value.secret(whole)
        case "Notes": notes.add(value.secret(whole))
        case "otp": entry.oneTimePassword = value.secret(whole)
        default: notes.add(value.secret(whole), name: key)
        }
    }

    private struct Earlier {
        let secret: HeldSecret
        let line: Int
    }

    /// Reads the passwords of earlier states, each once and without the entry's own, which takes no
    /// room from others. Until the entry's own is known, one more is kept, which may be that one.
    private mutating func takeHistory(
        _ earlier: inout [Earlier], of entry: ImportEntry, _ put: ImportSource.Put
    ) throws(ImportError) {
        let most = entry.password == nil ? Self.mostEarlier + 1 : Self.mostEarlier
        while let name = try xml.child() {
            guard name == "Entry" else {
                try xml.skip()
                continue
            }
            while let name = try xml.child() {
                guard name == "String" else {
                    try xml.skip()
                    continue
                }
                let line = xml.line
                let (key, value) = try pair()
                guard key == "Password" else { continue }
                let secret = value.secret(0..<value.count)
                let isKnown =
                    entry.hasPassword(secret)
                    || earlier.contains { $0.secret.bytes.matches(secret.bytes) }
                if isKnown { continue }
                guard earlier.count < most else {
                    try put(.rest(line))
                    continue
                }
                earlier.append(Earlier(secret: secret, line: line))
            }
        }
    }

    /// Reads `<Key>PIN</Key><Value>1234</Value>` within its element.
    private mutating func pair() throws(ImportError) -> (key: String, value: SecretBuffer) {
        var key = ""
        var value = SecretBuffer(limit: 1)
        while let name = try xml.child() {
            switch name {
            case "Key": key = try plainText()
            case "Value":
                // The value is encrypted a second time, as inside a database.
                guard !xml.says("Protected") else { throw xml.malformed }
                value = try xml.content()
            default: try xml.skip()
            }
        }
        return (key, value)
    }

    private mutating func plainText() throws(ImportError) -> String {
        let content = try xml.content()
        return content.text(0..<content.count) ?? ""
    }

    /// nil where there is none: zeros in base64.
    private mutating func identifier() throws(ImportError) -> [UInt8]? {
        let content = try xml.content()
        guard let decoded = Base64.decoded(content, 0..<content.count) else { return nil }
        let bytes = (0..<decoded.count).map { decoded.byte($0) }
        return bytes.allSatisfy { $0 == 0 } ? nil : bytes
    }
}

extension ImportEntry {
    fileprivate func hasPassword(_ secret: HeldSecret) -> Bool {
        password?.bytes.matches(secret.bytes) == true
    }
}
