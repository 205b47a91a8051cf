// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets

/// The external form of a key. A private key's is in memory that is not wiped.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(key.secret.bytes.releasedFromLockedMemory()) as NSData
}

/// The key's properties and uses, under the names of an item's attributes. Its type and class are
/// constants such as `kSecAttrKeyTypeRSA`, as on Apple's systems, while an item's are numbers.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let dictionary = NSMutableDictionary()
    for (name, value) in key.attributes { dictionary[name.rawValue as NSString] = value.object }
    for name in [AttributeName.type, .keyClass] {
        guard case .number(let code)? = key.attributes[name] else { continue }
        dictionary[name.rawValue as NSString] = String(code) as NSString
    }
    return dictionary
}

/// The public half of a private key; a public key itself.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.content.isPrivate ? SecKey(key.content.publicKey) : key
}

/// The number of bytes that one operation with the key takes or makes.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.content.kind.blockBytes }
