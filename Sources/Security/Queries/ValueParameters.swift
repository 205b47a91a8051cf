// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The secret or the item itself in a dictionary (`kSecValue…`).
struct ValueParameters {
    private var data: NSData?
    private(set) var persistentReference: PersistentReference?
    private(set) var reference: ValueReference?

    mutating func add(
        _ key: QueryParameters.ValueKey, _ value: QueryValue
    ) throws(RequestError) {
        switch (key, value) {
        case (.data, .data(let data)): self.data = data
        case (.persistentReference, .data(let data)):
            persistentReference = try PersistentReference(data)
        case (.reference, .reference(let reference)): self.reference = reference
        default: throw .invalid(.badRequest)
        }
    }

    func secret() throws(RequestError) -> HeldSecret? {
        guard let data else { return nil }
        guard data.length <= RequestLimits.largestSecret else { throw .invalid(.dataTooLarge) }
        return HeldSecret(data.copiedSecret)
    }
}

/// An object that stands for an item: `kSecValueRef`.
enum ValueReference {
    /// Refers to one item.
    case password(SecKeychainItem)
    // Contents that items may have; each finds the items with that content.
    case certificate(SecCertificate)
    case key(SecKey)
    case identity(SecIdentity)

    var queryClass: QueryClass {
        switch self {
        case .password(let item): .items(item.reference.itemClass)
        case .certificate: .items(.certificate)
        case .key: .items(.key)
        case .identity: .identities
        }
    }

    /// The attributes by which items of the class are found.
    func attributes(for itemClass: ItemClass) -> Attributes {
        switch (self, itemClass) {
        case (.certificate(let certificate), .certificate): certificate.attributes
        case (.key(let key), .key): key.attributesOfQuery
        case (.identity(let identity), .certificate): identity.certificate.attributes
        case (.identity(let identity), .key): identity.privateKey.attributesOfQuery
        default: [:]
        }
    }
}
