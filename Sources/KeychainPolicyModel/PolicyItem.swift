// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

/// What policies ask about an item (docs/policies.md, Resource: which item), read from the item when
/// it is asked for.
public struct PolicyItem: Sendable {
    public let itemClass: ItemClass
    public let attributes: Attributes
    public let accessGroup: String
    public let rights: ItemAccessControl
    /// The keychain's name.
    public let keychain: String

    public init(
        _ itemClass: ItemClass, _ attributes: Attributes, accessGroup: String,
        rights: ItemAccessControl, keychain: String
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.rights = rights
        self.keychain = keychain
    }

    /// A text of the item; nil where it has none.
    package func text(_ field: TextField) -> PolicyText? {
        switch field {
        case .keychain: PolicyText(keychain)
        case .accessGroup: PolicyText(accessGroup)
        case .service: text(of: .service)
        case .account: text(of: .account)
        case .itemLabel: text(of: .label)
        case .creator: text(of: .creator)
        case .server: text(of: .server).map { PolicyText($0.string.lowercased()) }
        case .networkProtocol:
            text(of: .networkProtocol).map { PolicyText(Self.protocols[$0.string] ?? $0.string) }
        case .user, .group, .exe, .digest, .unit, .slice, .userUnit, .app, .label, .host,
            .pamService:
            nil
        }
    }

    private func text(of name: AttributeName) -> PolicyText? {
        attributes[name]?.policyText.map { PolicyText($0) }
    }

    /// Adds all but the texts.
    package func addChoices(to facts: inout PolicyFacts) {
        facts[.itemClass] = .known(itemClass.policyIndex)
        facts[.accessible] = .known(rights.protection.policyIndex)
        var flags = rights.policyFlags
        if attributes[.synchronizable] == .number(1) { flags.insert(.synchronizable) }
        facts.flags = .known(flags)
    }

    /// All that there is to know of the item.
    public var facts: PolicyFacts {
        var facts = PolicyFacts()
        for field in TextField.ofItem {
            if let text = text(field) { facts[field] = .known([text]) }
        }
        addChoices(to: &facts)
        return facts
    }

    /// Apple's four letters, and what people write.
    private static let protocols = [
        "htps": "https", "http": "http", "ssh ": "ssh", "ftp ": "ftp", "ftps": "ftps",
        "smtp": "smtp", "imap": "imap", "imps": "imaps", "pop3": "pop3", "ldap": "ldap",
        "ldps": "ldaps", "smb ": "smb", "afp ": "afp", "irc ": "irc", "sock": "socks",
        "rtsp": "rtsp", "dnss": "dns",
    ]
}

extension AttributeValue {
    /// As text, where it can be read as one.
    fileprivate var policyText: String? {
        switch self {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number(let number): String(number)
        case .date, .real: nil
        }
    }
}

extension ItemClass {
    /// The place of its word among `ChoiceField.itemClass.words`.
    fileprivate var policyIndex: UInt8 {
        switch self {
        case .genericPassword: 0
        case .internetPassword: 1
        case .key: ChoiceField.keyClass
        case .certificate: 3
        }
    }
}

extension Accessibility {
    /// The place of its word among `ChoiceField.accessible.words`.
    fileprivate var policyIndex: UInt8 { rawValue }
}

extension ItemAccessControl {
    fileprivate var policyFlags: PolicyItemFlags {
        var flags: PolicyItemFlags = []
        for constraint in operations.values { flags.formUnion(constraint.policyFlags) }
        if let defaultOperation { flags.formUnion(defaultOperation.policyFlags) }
        if needsApplicationPassword { flags.insert(.applicationPassword) }
        if operations[.sign] != nil { flags.insert(.privateKeyUsage) }
        return flags
    }
}

extension Constraint {
    fileprivate var policyFlags: PolicyItemFlags {
        switch self {
        case .always, .never: []
        case .userPresence: .userPresence
        case .devicePasscode: .devicePasscode
        case .biometryAny: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .companion: .companion
        case .atLeast(_, let members):
            members.reduce(into: []) { $0.formUnion($1.policyFlags) }
        }
    }
}

extension PolicyItemFlags {
    fileprivate static let userPresence = named("user-presence")
    fileprivate static let devicePasscode = named("device-passcode")
    fileprivate static let biometryAny = named("biometry-any")
    fileprivate static let biometryCurrentSet = named("biometry-current-set")
    fileprivate static let companion = named("companion")
    fileprivate static let applicationPassword = named("application-password")
    fileprivate static let privateKeyUsage = named("private-key-usage")
    fileprivate static let synchronizable = named("synchronizable")

    private static func named(_ word: String) -> Self { Self(word: word) ?? [] }
}
