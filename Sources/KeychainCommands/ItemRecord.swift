// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSecrets

/// An item as `--json` shows it. The names of its keys are fixed: scripts depend on them.
struct ItemRecord: Encodable {
    let `class`: String
    /// Names the item for as long as it lives: 40 hexadecimal digits.
    let reference: String
    /// Where none was named and it is not the login keychain.
    let keychain: String?
    let group: String?
    let accessible: String
    /// The words of --flags; nil where the rights are such that no words make them.
    let flags: [String]?
    let synchronizable: Bool
    let created: String?
    let modified: String?
    /// All others, by the names of the options where there is one, else by their codes.
    let attributes: [String: AttributeRecord]
    let secret: SecretRecord?

    init(_ item: Item, secret: HeldSecret? = nil) {
        self.class = ItemKind(item.reference.itemClass)?.rawValue ?? item.reference.itemClass.code
        reference = item.reference.bytes.hexadecimal
        keychain = item.keychain
        accessible = AccessibilityWord.name(item.accessControl.protection)
        flags = AccessFlagsArgument.names(of: item.accessControl)
        var rest = item.attributes
        group = rest.removeValue(forKey: .accessGroup).flatMap(Self.text)
        synchronizable = rest.removeValue(forKey: .synchronizable) == .number(1)
        created = rest.removeValue(forKey: .creationDate).flatMap(Self.date)
        modified = rest.removeValue(forKey: .modificationDate).flatMap(Self.date)
        attributes = Self.named(rest)
        self.secret = secret.map(SecretRecord.init)
    }

    /// Those of the options of `add`, and some that it has no option for.
    private static let names: [AttributeName: String] = [
        .service: "service", .account: "account", .server: "server",
        .networkProtocol: "protocol", .port: "port", .path: "path", .label: "label",
        .comment: "comment", .itemDescription: "description", .generic: "generic",
        .securityDomain: "securityDomain", .authenticationType: "authenticationType",
        .creator: "creator", .type: "type", .isInvisible: "isInvisible",
        .isNegative: "isNegative",
    ]

    static func named(_ attributes: Attributes) -> [String: AttributeRecord] {
        var records: [String: AttributeRecord] = [:]
        for (name, value) in attributes {
            records[names[name] ?? name.rawValue] =
                name == .networkProtocol ? networkProtocol(value) : AttributeRecord(value: value)
        }
        return records
    }

    private static func networkProtocol(_ value: AttributeValue) -> AttributeRecord {
        guard case .string(let code) = value else { return AttributeRecord(value: value) }
        return AttributeRecord(value: .string(ProtocolWord.name(ofCode: code)))
    }

    private static func text(_ value: AttributeValue) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    private static func date(_ value: AttributeValue) -> String? {
        guard case .date(let seconds) = value else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
    }
}

/// A value of an attribute: text and numbers as such, bytes as `{"base64": …}`.
struct AttributeRecord: Encodable {
    let value: AttributeValue

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .string(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .date(let seconds):
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            try container.encode(date.formatted(.iso8601))
        case .data(let bytes):
            try container.encode(["base64": Data(bytes).base64EncodedString()])
        }
    }
}

/// A secret that its user asked to see: text, or base64 where it is no UTF-8.
struct SecretRecord: Encodable {
    let text: String?
    let base64: String?

    init(_ secret: HeldSecret) {
        let bytes = secret.bytes.releasedFromLockedMemory()
        text = String(validating: bytes, as: UTF8.self)
        base64 = text == nil ? Data(bytes).base64EncodedString() : nil
    }
}
