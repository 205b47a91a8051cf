// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
internal import KeychainItemStore

/// What policies ask about items (docs/policies.md, Resource: which item).
package enum ItemFacts {
    package static func of(
        _ itemClass: ItemClass, _ attributes: Attributes, group: String,
        _ rights: ItemAccessControl, keychain: String
    ) -> PolicyFacts {
        var facts = PolicyFacts()
        facts[.keychain] = .known([PolicyText(keychain)])
        facts[.accessGroup] = .known([PolicyText(group)])
        facts[.itemClass] =
            ChoiceField.itemClass.index(of: itemClass.policyWord).map { .known($0) } ?? .unknown
        facts[.accessible] = .known(rights.protection.policyIndex)
        for (field, name) in texts {
            if let text = attributes[name]?.policyText { facts[field] = .known([PolicyText(text)]) }
        }
        if let server = attributes[.server]?.policyText {
            facts[.server] = .known([PolicyText(server.lowercased())])
        }
        facts[.networkProtocol] =
            attributes[.networkProtocol]?.policyText.map {
                .known([PolicyText(protocols[$0] ?? $0)])
            } ?? .absent
        var flags = rights.policyFlags
        if attributes[.synchronizable] == .number(1) { flags.insert(.synchronizable) }
        facts.flags = .known(flags)
        return facts
    }

    /// Of an item that is asked for and was not looked for: what the query doesn't tell is unknown.
    package static func of(_ query: ItemQuery, group: String, keychain: String) -> PolicyFacts {
        var facts = of(
            query.itemClass, query.attributes, group: group, .plain(query.accessible ?? .always),
            keychain: keychain)
        if query.accessible == nil { facts[.accessible] = .unknown }
        facts.flags = .unknown
        for field in TextField.itemNames where facts[field] == .absent { facts[field] = .unknown }
        return facts
    }

    private static let texts: [(TextField, AttributeName)] = [
        (.service, .service), (.account, .account), (.itemLabel, .label), (.creator, .creator),
    ]

    /// Apple's four letters, and what people write.
    private static let protocols = [
        "htps": "https", "http": "http", "ssh ": "ssh", "ftp ": "ftp", "ftps": "ftps",
        "smtp": "smtp", "imap": "imap", "imps": "imaps", "pop3": "pop3", "ldap": "ldap",
        "ldps": "ldaps", "smb ": "smb", "afp ": "afp", "irc ": "irc", "sock": "socks",
        "rtsp": "rtsp", "dnss": "dns",
    ]

    /// The attributes that a policy may keep from answers, by the names it uses for them.
    package static let names: [String: AttributeName] = [
        "service": .service, "account": .account, "label": .label, "comment": .comment,
        "description": .itemDescription, "generic": .generic, "creator": .creator, "type": .type,
        "server": .server, "protocol": .networkProtocol, "port": .port, "path": .path,
        "security-domain": .securityDomain, "authentication-type": .authenticationType,
        "creation-date": .creationDate, "modification-date": .modificationDate,
        "access-group": .accessGroup,
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
    fileprivate var policyWord: String {
        switch self {
        case .genericPassword: "generic-password"
        case .internetPassword: "internet-password"
        case .certificate: "certificate"
        case .key: "key"
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
