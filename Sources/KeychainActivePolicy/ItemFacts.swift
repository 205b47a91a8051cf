// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
package import KeychainModel
package import KeychainPolicyModel

/// What policies ask about items (docs/policies.md, Resource: which item).
package enum ItemFacts {
    /// Of an item that is asked for and was not looked for: what the query doesn't tell is unknown.
    package static func of(_ query: ItemQuery, group: String, keychain: String) -> PolicyFacts {
        var facts = PolicyItem(
            query.itemClass, query.attributes, accessGroup: group,
            rights: .plain(query.accessible ?? .always), keychain: keychain
        ).facts
        if query.accessible == nil { facts[.accessible] = .unknown }
        facts.flags = .unknown
        for field in TextField.ofItem where facts[field] == .absent { facts[field] = .unknown }
        return facts
    }

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
