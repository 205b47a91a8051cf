// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The values of `kSecClass`: items of one class, or identities, which are private keys joined with
/// their certificates.
enum QueryClass: Hashable, Sendable {
    case items(ItemClass)
    case identities

    private static let identityCode = "idnt"

    init?(code: String) {
        if code == Self.identityCode {
            self = .identities
        } else if let itemClass = ItemClass(code: code), ItemClass.ofSecItem.contains(itemClass) {
            self = .items(itemClass)
        } else {
            return nil
        }
    }

    var code: String {
        switch self {
        case .items(let itemClass): itemClass.code
        case .identities: Self.identityCode
        }
    }

    /// An identity has the attributes of its key and of its certificate.
    func rule(for name: AttributeName) -> AttributeRule? {
        switch self {
        case .items(let itemClass): itemClass.attributeRules[name]
        case .identities:
            ItemClass.key.attributeRules[name] ?? ItemClass.certificate.attributeRules[name]
        }
    }

    /// Whether the search may find certificates.
    var hasCertificates: Bool { self == .identities || self == .items(.certificate) }

    /// Whether each item's data may need an authentication of its own (docs/secitem.md, Decisions).
    var isPassword: Bool { self == .items(.genericPassword) || self == .items(.internetPassword) }
}

extension QueryClass {
    /// The class that a dictionary names, or the class of the item that it refers to.
    init(
        code: QueryValue?, persistent: PersistentReference?, reference: ValueReference?
    ) throws(RequestError) {
        var found: QueryClass?
        switch code {
        case nil: break
        case .string(let code)?:
            guard let named = QueryClass(code: code) else { throw .invalid(.noSuchClass) }
            found = named
        default: throw .invalid(.badRequest)
        }
        func add(_ referred: QueryClass) throws(RequestError) {
            guard found == nil || found == referred else { throw .invalid(.noSuchClass) }
            found = referred
        }
        if let persistent { try add(persistent.queryClass) }
        if let reference { try add(reference.queryClass) }
        guard let found else { throw .invalid(.badRequest) }
        self = found
    }
}
