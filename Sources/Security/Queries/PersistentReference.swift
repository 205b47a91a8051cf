// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// The 20 bytes that name an item over restarts: `kSecValuePersistentRef`.
enum PersistentReference {
    case item(ItemReference)
    /// Of a class whose items are not kept yet.
    case otherClass(String)

    private static let otherClasses = ["cert", "keys", "idnt"]

    init(_ data: NSData) throws(Refusal) {
        guard data.length == ItemReference.byteCount else { throw .badRequest }
        let bytes = data.copiedBytes
        if let reference = ItemReference(bytes: bytes) {
            self = .item(reference)
            return
        }
        let code = String(decoding: bytes.prefix(4), as: UTF8.self)
        guard Self.otherClasses.contains(code) else { throw .badRequest }
        self = .otherClass(code)
    }

    var classCode: String {
        switch self {
        case .item(let reference): reference.itemClass.code
        case .otherClass(let code): code
        }
    }
}
