// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets

/// The external form of a key. That of a private key lies in memory that is not wiped.
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(key.secret.bytes.releasedFromLockedMemory()) as NSData
}

/// What the key is and may be used for, by the names of an item's attributes. Its type and class
/// are constants such as `kSecAttrKeyTypeRSA`, as on Apple's systems, where those of an item are
/// numbers.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let dictionary = NSMutableDictionary()
    for (name, value) in key.attributes { dictionary[name.rawValue as NSString] = value.object }
    for name in [AttributeName.type, .keyClass] {
        guard case .number(let code)? = key.attributes[name] else { continue }
        dictionary[name.rawValue as NSString] = String(code) as NSString
    }
    return dictionary
}

/// The public half of a key; of a public key, itself.
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.content.isPrivate ? SecKey(key.content.publicKey) : key
}

/// Bytes that one operation with the key takes or makes.
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.content.kind.blockBytes }
