// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// An item as answers carry it. A class, as each step of an answer passes it on.
public final class Item: Sendable {
    public let reference: ItemReference
    /// Includes access group, synchronizable and dates; excludes accessibility and access control.
    public let attributes: Attributes
    public let accessControl: ItemAccessControl
    /// Programs that may use the item beside its groups; nil where it has no list, or the client
    /// itself is only on the list.
    public let trusted: TrustList?
    /// The secret, where it was asked for and the item has one.
    package let secret: HeldSecret?
    /// The item's keychain, where the query named none; nil is the login keychain.
    public let keychain: String?

    package init(
        reference: ItemReference, attributes: Attributes, accessControl: ItemAccessControl,
        trusted: TrustList? = nil, keychain: String? = nil, secret: HeldSecret? = nil
    ) {
        self.reference = reference
        self.attributes = attributes
        self.accessControl = accessControl
        self.trusted = trusted
        self.secret = secret
        self.keychain = keychain
    }
}

extension Item: Equatable {
    public static func == (a: Item, b: Item) -> Bool {
        a.reference == b.reference && a.attributes == b.attributes
            && a.accessControl == b.accessControl && a.trusted == b.trusted
            && a.keychain == b.keychain && isSame(a.secret, b.secret)
    }

    private static func isSame(_ a: HeldSecret?, _ b: HeldSecret?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.bytes.matches(b.bytes)
    }
}

/// The persistent reference: identifies one item for its whole life, whatever is changed in it.
///
/// The identifier is stored inline, as every step of a request passes references on.
public struct ItemReference: Sendable, Hashable {
    public static let identifierBytes = 16
    public static let byteCount = 4 + identifierBytes

    public let itemClass: ItemClass
    /// The identifier's halves, big-endian. One 16-byte number would need an alignment for which
    /// Swift's runtime allocates memory the slow way.
    private let high: UInt64
    private let low: UInt64

    /// The identifier as one number.
    package var number: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// 16 random bytes.
    public var identifier: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.identifierBytes)
        append(identifierTo: &bytes)
        return bytes
    }

    public init?(itemClass: ItemClass, identifier: [UInt8]) {
        guard let reference = identifier.withSpan({ Self(itemClass: itemClass, identifier: $0) })
        else { return nil }
        self = reference
    }

    package init?(itemClass: ItemClass, identifier: RawSpan) {
        guard identifier.byteCount == Self.identifierBytes else { return nil }
        self.itemClass = itemClass
        // Safe: each byte is widened to 64 bits.
        high = (0..<8).reduce(0) { $0 << 8 | UInt64(identifier.byte($1)) }
        low = (8..<16).reduce(0) { $0 << 8 | UInt64(identifier.byte($1)) }
    }

    package init(itemClass: ItemClass, number: UInt128) {
        self.itemClass = itemClass
        high = UInt64(truncatingIfNeeded: number >> 64)
        low = UInt64(truncatingIfNeeded: number)
    }

    package func append(identifierTo bytes: inout [UInt8]) {
        for half in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: half >> UInt64(shift)))
            }
        }
    }

    /// Four bytes of class, then the identifier: 20 bytes.
    public var bytes: [UInt8] { Array(itemClass.code.utf8) + identifier }

    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let itemClass = ItemClass(code: String(decoding: bytes.prefix(4), as: UTF8.self))
        else { return nil }
        self.init(itemClass: itemClass, identifier: Array(bytes.dropFirst(4)))
    }
}

/// The kinds of item with a table of their own (docs/secitem.md, Item classes).
public enum ItemClass: UInt8, Sendable, Hashable, CaseIterable {
    case genericPassword = 1
    case internetPassword = 2
    case certificate = 3
    case key = 4
    /// Items with arbitrary attribute names, as in the Secret Service
    /// (docs/design/attributed-items.md). SecItem does not know the class.
    case attributed = 5

    /// The classes that `kSecClass` may name.
    public static let ofSecItem = allCases.filter { $0 != .attributed }

    /// The value that `kSecClass` and persistent references use.
    public var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        case .attributed: "attr"
        }
    }

    public init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// The items that a call means, and the form of its answer.
public struct ItemQuery: Sendable, Equatable {
    public enum Synchronizable: UInt8, Sendable { case no, yes, any }

    /// Whether the user may be asked (`kSecUseAuthenticationUI`).
    public enum AuthenticationUI: UInt8, Sendable { case allow, fail, skip }

    public struct Folding: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let caseInsensitive = Folding(rawValue: 1)
        public static let diacriticInsensitive = Folding(rawValue: 2)
        public static let widthInsensitive = Folding(rawValue: 4)
    }

    /// The keychain's name; nil means the user's search list.
    public var keychain: String?
    public var itemClass: ItemClass
    /// Exact values, all of which must match. Excludes access group and synchronizable.
    public var attributes: Attributes = [:]
    public var accessible: Accessibility?
    /// nil means every group of the caller.
    public var accessGroup: String?
    public var synchronizable: Synchronizable = .no
    /// Restricts the search to these items; empty matches none, nil does not restrict.
    public var references: [ItemReference]?
    /// Internet passwords whose server is this host or a domain above it.
    public var hostOrSubdomain: String?
    public var folding: Folding = []
    /// nil means no limit.
    public var limit: Int? = 1
    public var returnFields: ReturnFields = []
    public var authenticationUI: AuthenticationUI = .allow
    /// The requesting program's own text for the user.
    public var reason: String?
}

extension ItemQuery {
    public init(_ itemClass: ItemClass) { self.init(itemClass: itemClass) }

    /// The initialiser that the compiler makes, for other modules. One that sets so many values one by
    /// one would copy them all.
    package init(
        of itemClass: ItemClass, keychain: String?, attributes: Attributes,
        accessible: Accessibility?, accessGroup: String?, synchronizable: Synchronizable,
        references: [ItemReference]?, hostOrSubdomain: String?, folding: Folding, limit: Int?,
        returnFields: ReturnFields, authenticationUI: AuthenticationUI, reason: String?
    ) {
        self.init(
            keychain: keychain, itemClass: itemClass, attributes: attributes,
            accessible: accessible, accessGroup: accessGroup, synchronizable: synchronizable,
            references: references, hostOrSubdomain: hostOrSubdomain, folding: folding,
            limit: limit, returnFields: returnFields, authenticationUI: authenticationUI,
            reason: reason)
    }
}

/// A new item as SecItemAdd passes it; the secret is beside it.
public struct NewItem: Sendable, Equatable {
    /// nil means the user's default keychain.
    public var keychain: String?
    public var itemClass: ItemClass
    /// All attributes but group, synchronizable, accessibility and access control.
    public var attributes: Attributes = [:]
    public var accessGroup: String?
    public var isSynchronizable = false
    public var accessible: Accessibility = .whenUnlocked
    /// nil means the accessibility alone.
    public var accessControl: ItemAccessControl?
    /// Programs that may use the item beside its groups; nil means no list.
    public var trusted: [NamedProgram]?
    /// For the class `attributed`: what to do if an item of the caller's own groups has the same
    /// pairs.
    public var whenSame = WhenSame.add
    public var authenticationUI: ItemQuery.AuthenticationUI = .allow
    /// The requesting program's own text for the user.
    public var reason: String?

    public init(_ itemClass: ItemClass) { self.itemClass = itemClass }
}

/// The treatment of a new item where an equal one exists.
public enum WhenSame: UInt8, Sendable {
    /// The new item is added beside the other.
    case add
    /// The other gets the new attributes and secret, and keeps the rest.
    case replace
    /// The new item is refused as a duplicate.
    case refuse
}

/// The change that SecItemUpdate makes to every item found. A new secret is beside it.
public struct ItemChange: Sendable, Equatable {
    public var attributes: Attributes = [:]
    /// For the class `attributed`: the new pairs replace all pairs, even if there are none.
    public var replacesPairs = false
    public var accessGroup: String?
    public var isSynchronizable: Bool?
    public var accessible: Accessibility?
    public var accessControl: ItemAccessControl?
    public var trust: TrustChange?

    public init() {}

    /// The attributes after the change, if the item's class allows all of them.
    public func applied(to attributes: Attributes) -> Attributes {
        let kept = replacesPairs ? attributes.filter { $0.key.pairName == nil } : attributes
        return self.attributes.isEmpty ? kept : kept.merging(self.attributes)
    }

    /// The item's access control after the change. An accessibility alone keeps its constraints:
    /// only new access control may take them away.
    package func applied(to current: ItemAccessControl) -> ItemAccessControl {
        accessControl ?? accessible.map(current.protected(by:)) ?? current
    }
}

/// The extent of a query.
extension ItemQuery {
    /// Whether it asks for the secrets of all passwords.
    package var wantsAllSecrets: Bool {
        guard limit == nil, returnFields.contains(.data) else { return false }
        return itemClass == .genericPassword || itemClass == .internetPassword
    }

    /// Whether it names one item so exactly that the program must know the item already: such
    /// queries can't be used to find out other programs' items, except by a right guess.
    package var namesOneItem: Bool {
        guard limit == 1, !returnFields.isEmpty, accessGroup == nil, folding.isEmpty,
            hostOrSubdomain == nil, authenticationUI == .allow
        else { return false }
        if let references { return references.count == 1 }
        return switch itemClass {
        case .genericPassword: has(.service) && has(.account)
        case .internetPassword: has(.server) && has(.account)
        case .certificate: has(.issuer) && has(.serialNumber)
        case .key: has(.applicationLabel) || has(.applicationTag)
        // A few pairs are easily guessed; the class has a search of its own.
        case .attributed: false
        }
    }

    private func has(_ name: AttributeName) -> Bool {
        attributes[name].map { !$0.isEmptyCompared } ?? false
    }
}

/// The parts of an item in an answer (`kSecReturn…`).
public struct ReturnFields: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let data = ReturnFields(rawValue: 1)
    public static let attributes = ReturnFields(rawValue: 2)
    public static let reference = ReturnFields(rawValue: 4)
    public static let persistentReference = ReturnFields(rawValue: 8)
}
