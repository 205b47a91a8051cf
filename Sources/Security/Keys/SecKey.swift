// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets

/// A cryptographic key, public or private. A private key keeps its numbers in locked memory.
public final class SecKey: NSObject, @unchecked Sendable {
    let content: KeyContent
    /// The attributes of the item that the key was found in.
    private let itemAttributes: Attributes

    init(_ content: KeyContent, itemAttributes: Attributes = [:]) {
        self.content = content
        self.itemAttributes = itemAttributes
    }

    /// The key that an item stores; nil where its data is no key.
    convenience init?(_ secret: HeldSecret, itemAttributes: Attributes) {
        guard case .number(let code)? = itemAttributes[.type],
            let type = KeyKind.KeyType(rawValue: code),
            case .number(let keyClass)? = itemAttributes[.keyClass],
            let content = Self.content(secret, type, keyClass)
        else { return nil }
        self.init(content, itemAttributes: itemAttributes)
    }

    private static func content(
        _ secret: HeldSecret, _ type: KeyKind.KeyType, _ keyClass: Int64
    ) -> KeyContent? {
        switch keyClass {
        case KeyClass.privateKey: KeyContent(privateKey: secret, type)
        case KeyClass.publicKey:
            KeyContent(publicKey: secret.bytes.releasedFromLockedMemory(), type)
        default: nil
        }
    }

    public override var hash: Int { content.publicBytes.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecKey else { return false }
        return content.publicBytes == other.content.publicBytes
            && content.kind == other.content.kind
            && content.isPrivate == other.content.isPrivate
    }
    public override var description: String {
        let half = content.isPrivate ? "private" : "public"
        return "<SecKey: \(half), \(content.kind.type), \(content.kind.bits) bits>"
    }

    /// The key's own attributes and its item's.
    var attributes: Attributes { attributesOfNewItem.merging(itemAttributes) }
}

extension SecKey {
    /// The attributes of a new item for this key.
    var attributesOfNewItem: Attributes { content.attributesOfNewItem }
    /// The attributes by which an item of this key is found, whichever uses the item allows by now.
    var attributesOfQuery: Attributes { content.attributesOfQuery }
    /// The secret that an item of this key stores.
    var secret: HeldSecret { content.secret }
}
