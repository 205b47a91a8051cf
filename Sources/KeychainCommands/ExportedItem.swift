// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON

/// A password as an entry of Bitwarden's JSON, the form that most password managers read, and
/// `keychainctl import bitwarden` too. What that form has no place for is a field of its own.
struct ExportedItem {
    private static let login = 1
    private static let textField = 0
    /// Attributes that have a place in the form, or say nothing to another keychain.
    private static let placed: Set<AttributeName> = [
        .account, .comment, .server, .networkProtocol, .port, .path, .accessGroup, .synchronizable,
        .creationDate, .modificationDate, .digest, .uuid,
    ]

    private let item: Item
    private let secret: HeldSecret

    /// nil for an item without a secret.
    init?(_ item: Item) {
        guard let secret = item.secret else { return nil }
        self.item = item
        self.secret = secret
    }

    var json: SecretBytes {
        var line = JSONLine()
        line.append(raw: "{\"type\":\(Self.login),\"name\":")
        line.append(text: text(.service) ?? text(.server) ?? text(.label) ?? "")
        line.append(raw: ",\"notes\":")
        append(text(.comment), to: &line)
        line.append(raw: ",\"login\":{\"username\":")
        append(text(.account), to: &line)
        line.append(raw: ",\"password\":")
        let isText = secret.isText
        line.append(text: isText ? secret : Self.base64(secret))
        line.append(raw: ",\"uris\":[")
        if let address {
            line.append(raw: "{\"uri\":")
            line.append(text: address)
            line.append(raw: "}")
        }
        line.append(raw: "]},\"fields\":[")
        var fields = self.fields
        if !isText { fields.append(("encoding of the password", "base64")) }
        for (number, field) in fields.enumerated() {
            line.append(raw: (number > 0 ? "," : "") + "{\"type\":\(Self.textField),\"name\":")
            line.append(text: field.name)
            line.append(raw: ",\"value\":")
            line.append(text: field.value)
            line.append(raw: "}")
        }
        line.append(raw: "]}")
        return line.bytes
    }

    private func append(_ text: String?, to line: inout JSONLine) {
        if let text { line.append(text: text) } else { line.append(raw: "null") }
    }

    private func text(_ name: AttributeName) -> String? {
        switch item.attributes[name] {
        case .string(let text)? where !text.isEmpty: text
        case .data(let bytes)?:
            String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
        default: nil
        }
    }

    /// Of an internet password.
    private var address: String? {
        guard let server = text(.server) else { return nil }
        let scheme = text(.networkProtocol).map { ProtocolWord.name(ofCode: $0) } ?? "https"
        var address = scheme + "://" + server
        if case .number(let port)? = item.attributes[.port], port > 0 { address += ":\(port)" }
        return address + (text(.path) ?? "")
    }

    private var fields: [(name: String, value: String)] {
        let named = text(.service) ?? text(.server) ?? text(.label)
        return ItemRecord.named(item.attributes.filter { !Self.placed.contains($0.key) })
            .sorted { $0.key < $1.key }
            .compactMap { name, value in
                let text = Self.words(value.value)
                return text.isEmpty || text == named ? nil : (name, text)
            }
    }

    private static func words(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): String(number)
        case .real(let number): String(number)
        case .date(let seconds):
            Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
        case .data(let bytes):
            String(validating: bytes, as: UTF8.self) ?? Data(bytes).base64EncodedString()
        }
    }

    static func base64(_ secret: HeldSecret) -> HeldSecret {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var writer = SecretWriter(capacity: (secret.bytes.count + 2) / 3 * 4)
        var bytes = SecretCursor(secret)
        while let first = bytes.next() {
            let (second, third) = (bytes.next(), bytes.next())
            let group = Int(first) << 16 | Int(second ?? 0) << 8 | Int(third ?? 0)
            writer.append(letters[group >> 18])
            writer.append(letters[group >> 12 & 63])
            writer.append(second == nil ? UInt8(ascii: "=") : letters[group >> 6 & 63])
            writer.append(third == nil ? UInt8(ascii: "=") : letters[group & 63])
        }
        return HeldSecret(writer.finish())
    }
}
