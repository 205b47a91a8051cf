// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// An item as answers carry it.
public struct Item: Sendable {
    public let reference: ItemReference
    /// Includes access group, synchronizable and dates; neither accessibility nor access control.
    public let attributes: Attributes
    public let accessControl: ItemAccessControl
    /// The programs it lets in beside its groups; nil where it has no list, or the client is one of
    /// them.
    public let trusted: TrustList?
    /// The keychain that it lies in, where the query named none; nil is the login keychain.
    public var keychain: String?
    /// Where it was asked for and the item has one.
    package var secret: HeldSecret?

    package init(
        reference: ItemReference, attributes: Attributes, accessControl: ItemAccessControl,
        trusted: TrustList? = nil, secret: HeldSecret? = nil
    ) {
        self.reference = reference
        self.attributes = attributes
        self.accessControl = accessControl
        self.trusted = trusted
        self.secret = secret
    }
}

extension Item: Equatable {
    public static func == (a: Self, b: Self) -> Bool {
        a.reference == b.reference && a.attributes == b.attributes
            && a.accessControl == b.accessControl && a.trusted == b.trusted
            && a.keychain == b.keychain && isSame(a.secret, b.secret)
    }

    private static func isSame(_ a: HeldSecret?, _ b: HeldSecret?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.bytes.matches(b.bytes)
    }
}

/// Names one item for as long as it lives, whatever is changed in it: the persistent reference.
public struct ItemReference: Sendable, Hashable {
    public static let identifierBytes = 16
    public static let byteCount = 4 + identifierBytes

    public let itemClass: ItemClass
    /// 16 random bytes.
    public let identifier: [UInt8]

    public init?(itemClass: ItemClass, identifier: [UInt8]) {
        guard identifier.count == Self.identifierBytes else { return nil }
        self.itemClass = itemClass
        self.identifier = identifier
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

/// The kinds of item that have a table of their own (docs/secitem.md, Item classes).
public enum ItemClass: UInt8, Sendable, Hashable, CaseIterable {
    case genericPassword = 1
    case internetPassword = 2
    case certificate = 3
    case key = 4

    /// The value that `kSecClass` and persistent references use.
    public var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        case .certificate: "cert"
        case .key: "keys"
        }
    }

    public init?(code: String) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
