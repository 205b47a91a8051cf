// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// One result of a search: an item, or a private key with its certificate.
enum SearchResult {
    case item(Item, keychain: String?)
    case identity(certificate: Item, key: Item)

    var queryClass: QueryClass {
        switch self {
        case .item(let item, _): .items(item.reference.itemClass)
        case .identity: .identities
        }
    }

    /// Where key and certificate have the same attribute, the certificate's counts.
    var attributes: Attributes {
        switch self {
        case .item(let item, _): item.attributes
        case .identity(let certificate, let key):
            key.attributes.merging(certificate.attributes)
        }
    }

    var accessControl: ItemAccessControl {
        switch self {
        case .item(let item, _): item.accessControl
        case .identity(let certificate, _): certificate.accessControl
        }
    }

    /// The programs that may use the secret beside those of its group.
    var trusted: TrustList? {
        switch self {
        case .item(let item, _), .identity(_, let item): item.trusted
        }
    }

    /// An identity's secret is its key's.
    var secret: HeldSecret? {
        switch self {
        case .item(let item, _), .identity(_, let item): item.secret
        }
    }

    var persistentReference: PersistentReference {
        switch self {
        case .item(let item, _): .item(item.reference)
        case .identity(let certificate, _): .identity(certificate: certificate.reference)
        }
    }

    /// 20 bytes that differ after each change, as the date of change does. Unlike Apple's, they are
    /// not computed from the content: a program that may see only attributes could test guesses of
    /// the secret against them.
    var digest: NSData {
        var hash = Insecure.SHA1()
        hash.update(data: persistentReference.bytes)
        hash.update(data: (attributes[.modificationDate] ?? .date(0)).comparedBytes)
        return Array(hash.finalize()).object
    }

    /// The object for the item in `kSecReturnRef`; nil where the item's data is not a valid key or
    /// certificate.
    var reference: NSObject? {
        switch self {
        case .item(let item, let keychain): item.object(in: keychain)
        case .identity(let certificate, let key):
            if let certificate = certificate.object(in: nil) as? SecCertificate,
                let key = key.object(in: nil) as? SecKey
            {
                SecIdentity(certificate, key)
            } else {
                nil
            }
        }
    }
}

extension Item {
    fileprivate func object(in keychain: String?) -> NSObject? {
        switch reference.itemClass {
        case .genericPassword, .internetPassword:
            SecKeychainItem(
                reference,
                in: self.keychain ?? keychain ?? KeychainName.login.description)
        case .certificate: secret.flatMap { SecCertificate($0.bytes.releasedFromLockedMemory()) }
        case .key: secret.flatMap { SecKey($0, itemAttributes: attributes) }
        case .attributed: nil
        }
    }
}
