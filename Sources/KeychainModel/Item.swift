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
