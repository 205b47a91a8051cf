// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets

/// A keyring file of GNOME's without a password: `[keyring]`, for each item `[NUMBER]`, and for its
/// attributes `[NUMBER:attributeNUMBER]`, each with lines `name=value`.
///
/// GNOME's keyring writes a secret unchanged, with all of its lines. The text between `secret=` and
/// the next line with a name of the format is read as the secret.
struct KeyringText {
    private static let mostItems = 100_000
    private static let names = [
        "item-type", "display-name", "secret", "binary-secret", "mtime", "ctime",
    ]

    private enum Place: Equatable {
        case item(String)
        case attribute(ofItem: String)
        /// The keyring's own section, and the programs that an item let in.
        case other
    }

    private struct Found {
        var item: AttributedItem
        var type: UInt32 = 0
        var isText = true
    }

    private let file: SecretBuffer
    private var found: [Found] = []
    private var indices: [String: Int] = [:]
    private var place: Place?
    private var attribute: (name: String?, value: String?) = (nil, nil)
    /// The beginning of a secret that may have further lines.
    private var secretStart: Int?

    static func read(_ file: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        var check = TextCheck()
        for position in 0..<file.count { try check.take(file.byte(position)) }
        try check.finish()
        var keyring = KeyringText(file)
        try keyring.readLines()
        guard keyring.place != nil else { throw .malformed(line: 1) }
        for var found in keyring.found {
            found.item.take(type: KeyringTypes.schema(found.type))
            try put(found.isText ? .attributed(found.item) : .skipped(found.item, .notText))
        }
    }

    private init(_ file: SecretBuffer) { self.file = file }

    private mutating func readLines() throws(ImportError) {
        var (start, number) = (0, 1)
        while start < file.count {
            let end = file.first(0x0A, in: start..<file.count) ?? file.count
            try take(start..<end, number)
            start = end + 1
            number += 1
        }
        endSecret(at: file.count)
        try endAttribute()
    }

    private mutating func take(_ line: Range<Int>, _ number: Int) throws(ImportError) {
        if let place = header(line) {
            endSecret(at: line.lowerBound)
            try endAttribute()
            return try begin(place)
        }
        let sign = file.first(0x3D, in: line)
        let name = sign.flatMap { file.text(line.lowerBound..<$0) }
        if secretStart != nil {
            guard let name, Self.names.contains(name) else { return }
            endSecret(at: line.lowerBound)
        }
        guard let place else { throw .malformed(line: number) }
        if line.isEmpty || file.byte(line.lowerBound) == UInt8(ascii: "#") { return }
        guard let sign, let name else { throw .malformed(line: number) }
        let value = sign + 1..<line.upperBound
        switch place {
        case .item(let key): try take(name, value, ofItem: key, number)
        case .attribute: takeAttribute(name, value)
        case .other: return
        }
    }

    /// nil for a line that is no header.
    private func header(_ line: Range<Int>) -> Place? {
        guard line.count > 2, file.byte(line.lowerBound) == UInt8(ascii: "["),
            file.byte(line.upperBound - 1) == UInt8(ascii: "]"),
            let text = file.text(line.dropFirst().dropLast())
        else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let item = parts.first, !item.isEmpty, item.allSatisfy(\.isASCIIDigit) else {
            return text == "keyring" ? .other : nil
        }
        guard parts.count > 1 else { return .item(item) }
        if parts[1].hasPrefix("attribute") { return .attribute(ofItem: item) }
        return parts[1].hasPrefix("acl") ? .other : nil
    }

    private mutating func begin(_ place: Place) throws(ImportError) {
        self.place = place
        guard case .item(let key) = place, indices[key] == nil else { return }
        guard found.count < Self.mostItems else { throw .tooLarge }
        indices[key] = found.count
        let nothing = HeldSecret(SecretBytes(copying: []))
        found.append(Found(item: AttributedItem(number: found.count + 1, secret: nothing)))
    }

    private mutating func take(
        _ name: String, _ value: Range<Int>, ofItem key: String, _ number: Int
    ) throws(ImportError) {
        guard let index = indices[key] else { throw .malformed(line: number) }
        switch name {
        case "item-type": found[index].type = file.text(value).flatMap { UInt32($0) } ?? 0
        case "display-name":
            guard let text = unescaped(value) else { throw .malformed(line: number) }
            found[index].item.label = text
        case "secret": secretStart = value.lowerBound
        case "binary-secret":
            guard let secret = binary(value) else { throw .malformed(line: number) }
            found[index].item.secret = secret
        case "ctime": found[index].item.created = seconds(value)
        case "mtime": found[index].item.modified = seconds(value)
        default: return
        }
    }

    /// The end of the line before `end` belongs to that line.
    private mutating func endSecret(at end: Int) {
        defer { secretStart = nil }
        guard let start = secretStart, case .item(let key)? = place, let index = indices[key] else {
            return
        }
        var end = end
        if end > start, file.byte(end - 1) == 0x0A { end -= 1 }
        found[index].item.secret = file.secret(start..<end)
    }

    private mutating func takeAttribute(_ name: String, _ value: Range<Int>) {
        switch name {
        case "name": attribute.name = unescaped(value)
        case "value": attribute.value = unescaped(value)
        default: return
        }
    }

    private mutating func endAttribute() throws(ImportError) {
        guard case .attribute(let key)? = place else { return }
        defer { attribute = (nil, nil) }
        guard let index = indices[key] else { throw .damaged }
        guard let name = attribute.name, let value = attribute.value else {
            found[index].isText = false
            return
        }
        found[index].item.takeOfKeyring(name, value)
    }

    private func seconds(_ value: Range<Int>) -> UInt64 {
        file.text(value).flatMap(UInt64.init) ?? 0
    }

    /// nil for a text that is not hexadecimal bytes.
    private func binary(_ value: Range<Int>) -> HeldSecret? {
        guard value.count % 2 == 0 else { return nil }
        let bytes = SecretBuffer(limit: max(1, value.count / 2))
        for position in stride(from: value.lowerBound, to: value.upperBound, by: 2) {
            guard let high = digit(file.byte(position)), let low = digit(file.byte(position + 1))
            else { return nil }
            _ = bytes.append(high << 4 | low)
        }
        return HeldSecret(bytes.contents)
    }

    private func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// For labels and attributes, which are no secrets: `\s`, `\n`, `\t`, `\r` and `\\`. nil for
    /// other escapes.
    private func unescaped(_ value: Range<Int>) -> String? {
        var bytes: [UInt8] = []
        var position = value.lowerBound
        while position < value.upperBound {
            var byte = file.byte(position)
            if byte == UInt8(ascii: "\\") {
                position += 1
                guard position < value.upperBound else { return nil }
                switch file.byte(position) {
                case UInt8(ascii: "s"): byte = 0x20
                case UInt8(ascii: "n"): byte = 0x0A
                case UInt8(ascii: "t"): byte = 0x09
                case UInt8(ascii: "r"): byte = 0x0D
                case UInt8(ascii: "\\"): byte = UInt8(ascii: "\\")
                default: return nil
                }
            }
            bytes.append(byte)
            position += 1
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
