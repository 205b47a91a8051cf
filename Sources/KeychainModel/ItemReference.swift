// SPDX-License-Identifier: Apache-2.0

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
