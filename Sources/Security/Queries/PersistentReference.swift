// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// The 20 bytes that identify an item across restarts: `kSecValuePersistentRef`. An identity is
/// identified by its certificate.
enum PersistentReference {
    case item(ItemReference)
    case identity(certificate: ItemReference)

    private static let classBytes = 4

    init(_ data: NSData) throws(RequestError) {
        guard data.length == ItemReference.byteCount else { throw .invalid(.badRequest) }
        let bytes = data.copiedBytes
        if let reference = ItemReference(bytes: bytes),
            ItemClass.ofSecItem.contains(reference.itemClass)
        {
            self = .item(reference)
            return
        }
        let identifier = Array(bytes.dropFirst(Self.classBytes))
        guard bytes.starts(with: QueryClass.identities.code.utf8),
            let certificate = ItemReference(itemClass: .certificate, identifier: identifier)
        else { throw .invalid(.badRequest) }
        self = .identity(certificate: certificate)
    }

    var queryClass: QueryClass {
        switch self {
        case .item(let reference): .items(reference.itemClass)
        case .identity: .identities
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .item(let reference): reference.bytes
        case .identity(let certificate): Array(queryClass.code.utf8) + certificate.identifier
        }
    }

    /// The reference of the item, or of the identity's certificate.
    var reference: ItemReference {
        switch self {
        case .item(let reference), .identity(let reference): reference
        }
    }
}
