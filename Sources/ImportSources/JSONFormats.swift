// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets
internal import SecretJSON

/// Docker's `config.json`: for each registry, user and password in base64, or an identity token.
enum DockerText {
    static func read(_ buffer: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let root = try SecretJSONValue(export: buffer)
        try read(root, put)
        try JSONRest.ofDocker(root, put)
    }

    private static func read(_ root: SecretJSONValue, _ put: ImportSource.Put) throws(ImportError) {
        for (registry, value) in root["auths"]?.members ?? [] {
            var entry = ImportEntry(line: value.line)
            entry.address = registry.contains("://") ? registry : "https://" + registry
            if let text = value["auth"]?.text, !text.isEmpty {
                let encoded = SecretBuffer(text)
                guard let decoded = Base64.decoded(encoded, 0..<encoded.count),
                    let colon = decoded.first(0x3A, in: 0..<decoded.count)
                else { throw .malformed(line: entry.line) }
                entry.account = decoded.text(0..<colon) ?? ""
                // Docker pads short passwords with zeros.
                var end = decoded.count
                while end > colon + 1, decoded.byte(end - 1) == 0 { end -= 1 }
                entry.password = decoded.secret(colon + 1..<end)
            } else {
                entry.account = value["username"]?.string ?? ""
                entry.password = value["password"]?.secret
            }
            let token = value["identitytoken"] ?? value["registrytoken"]
            if let token = token?.secret {
                if entry.password?.bytes.count ?? 0 == 0 {
                    entry.password = token
                    if entry.account.isEmpty { entry.account = "<token>" }
                } else {
                    let notes = NoteLines()
                    notes.add(token, name: "identity token")
                    entry.notes = notes.contents
                }
            }
            try put(entry)
        }
    }
}

enum Base64 {
    /// nil for text that is not base64.
    static func decoded(_ buffer: SecretBuffer, _ range: Range<Int>) -> SecretBuffer? {
        let decoded = SecretBuffer(limit: max(1, range.count))
        var bits: UInt32 = 0
        var count = 0
        for position in range {
            let byte = buffer.byte(position)
            if byte == UInt8(ascii: "=") { break }
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                _ = decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return decoded
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Bitwarden's export in JSON, in clear or with a password of its own.
enum BitwardenText {
    static func read(
        _ buffer: SecretBuffer, password: HeldSecret?, _ put: ImportSource.Put
    ) throws(ImportError) {
        let root = try SecretJSONValue(export: buffer)
        guard let export = try ProtectedExport(root) else { return try readAll(root, put) }
        guard let password else { throw .encryptedByPassword }
        try readOpened(export.opened(with: password), put)
    }

    /// Reads the decrypted part of an export with a password, which need not be text.
    static func readOpened(
        _ contents: SecretBuffer, _ put: ImportSource.Put
    ) throws(ImportError) {
        var check = TextCheck()
        for position in 0..<contents.count { try check.take(contents.byte(position)) }
        try check.finish()
        try readAll(try SecretJSONValue(export: contents), put)
    }

    private static func readAll(
        _ root: SecretJSONValue, _ put: ImportSource.Put
    ) throws(ImportError) {
        try read(root, put)
        try JSONRest.ofBitwarden(root, put)
    }

    private static func read(_ root: SecretJSONValue, _ put: ImportSource.Put) throws(ImportError) {
        if root["encrypted"]?.isTrue == true { throw .encryptedForAccount }
        guard case .list(let items)? = root["items"]?.content else { throw .malformed(line: 1) }
        var folders: [String: String] = [:]
        for folder in (root["folders"]?.elements ?? []) + (root["collections"]?.elements ?? []) {
            guard let id = folder["id"]?.string else { continue }
            folders[id] = folder["name"]?.string
        }
        for item in items { try put(entry(item, folders)) }
    }

    private static func entry(_ item: SecretJSONValue, _ folders: [String: String]) -> ImportEntry {
        var entry = ImportEntry(line: item.line)
        let notes = NoteLines()
        entry.title = item["name"]?.string ?? ""
        entry.folder = item["folderId"]?.string.flatMap { folders[$0] } ?? ""
        if let login = item["login"] {
            entry.account = login["username"]?.string ?? ""
            entry.password = login["password"]?.secret
            entry.oneTimePassword = login["totp"]?.secret
            for passkey in login["fido2Credentials"]?.elements ?? [] {
                for (name, value) in passkey.members {
                    if let secret = value.secret { notes.add(secret, name: name) }
                }
            }
            for (number, address) in (login["uris"]?.elements ?? []).enumerated() {
                guard let text = address["uri"]?.text else { continue }
                if number == 0 {
                    entry.take(SplitAddress(text), notes)
                } else {
                    notes.add(text.secret, name: "address")
                }
            }
        }
        if let text = item["notes"]?.secret { notes.add(text) }
        for kind in ["card", "identity", "sshKey"] {
            for (name, value) in item[kind]?.members ?? [] {
                if let secret = value.secret { notes.add(secret, name: name) }
            }
        }
        for field in item["fields"]?.elements ?? [] {
            guard let secret = field["value"]?.secret else { continue }
            notes.add(secret, name: field["name"]?.string)
        }
        for old in item["passwordHistory"]?.elements ?? [] {
            if let secret = old["password"]?.secret {
                notes.add(secret, name: "earlier password")
            }
        }
        entry.notes = notes.contents
        return entry
    }
}

/// `export.data` of 1Password's 1PUX.
enum OnePasswordText {
    static func read(_ buffer: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let root = try SecretJSONValue(export: buffer)
        guard case .list(let accounts)? = root["accounts"]?.content else {
            throw .malformed(line: 1)
        }
        for account in accounts {
            for vault in account["vaults"]?.elements ?? [] {
                let name = vault["attrs"]?["name"]?.string ?? ""
                for item in vault["items"]?.elements ?? [] {
                    try put(entry(item["item"] ?? item, vault: name))
                }
            }
        }
    }

    private static func entry(_ item: SecretJSONValue, vault: String) -> ImportEntry {
        var entry = ImportEntry(line: item.line)
        let notes = NoteLines()
        entry.folder = vault
        entry.title = item["overview"]?["title"]?.string ?? ""
        let details = item["details"]
        for field in details?["loginFields"]?.elements ?? [] {
            let secret = field["value"]?.secret
            switch field["designation"]?.string {
            case "username": entry.account = field["value"]?.string ?? ""
            case "password": entry.password = secret
            default:
                if let secret { notes.add(secret, name: field["name"]?.string) }
            }
        }
        if entry.password == nil { entry.password = details?["password"]?.secret }
        if let text = item["overview"]?["url"]?.text {
            entry.take(SplitAddress(text), notes)
        }
        if let text = details?["notesPlain"]?.secret { notes.add(text) }
        for section in details?["sections"]?.elements ?? [] {
            for field in section["fields"]?.elements ?? [] {
                take(field, &entry, notes)
            }
        }
        for old in details?["passwordHistory"]?.elements ?? [] {
            if let secret = old["value"]?.secret {
                notes.add(secret, name: "earlier password")
            }
        }
        entry.notes = notes.contents
        return entry
    }

    private static func take(
        _ field: SecretJSONValue, _ entry: inout ImportEntry, _ notes: NoteLines
    ) {
        for (kind, value) in field["value"]?.members ?? [] {
            if kind == "totp", entry.oneTimePassword == nil {
                entry.oneTimePassword = value.secret
            } else if let secret = value.secret {
                notes.add(secret, name: field["title"]?.string)
            } else {
                // An address or a card's month has several parts, which become fields.
                for (name, part) in value.members {
                    if let secret = part.secret { notes.add(secret, name: name) }
                }
            }
        }
    }
}

extension SplitAddress {
    fileprivate init(_ text: SecretJSONText) {
        let buffer = SecretBuffer(text)
        self.init(buffer, 0..<buffer.count)
    }
}

extension SecretBuffer {
    convenience init(_ text: SecretJSONText) {
        let secret = text.secret
        self.init(limit: max(1, secret.bytes.count))
        _ = append(secret.bytes)
    }
}

extension SecretJSONReader.Bounds {
    /// Enough for the longest export, where each value takes 16 bytes.
    fileprivate static let export = Self(deepest: 64, mostValues: 4 * 1024 * 1024)
}

extension SecretJSONValue {
    init(export buffer: SecretBuffer) throws(ImportError) {
        do throws(SecretJSONReader.Malformed) {
            self = try SecretJSONReader.value(of: HeldSecret(buffer.contents), .export)
        } catch { throw .malformed(line: error.line) }
    }

    var isTrue: Bool { if case .flag(true) = content { true } else { false } }

    /// A text that is no secret; nil for other values.
    fileprivate var string: String? {
        guard let text else { return nil }
        let buffer = SecretBuffer(text)
        return buffer.text(0..<buffer.count)
    }

    /// A text or a number; nil for other values, and for an empty text.
    fileprivate var secret: HeldSecret? {
        switch content {
        case .text(let text) where !text.isEmpty: text.secret
        case .number(let text): text.secret
        default: nil
        }
    }
}
