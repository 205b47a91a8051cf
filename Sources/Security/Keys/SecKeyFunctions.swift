// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel
internal import KeychainSecrets

/// A key from its external form: PKCS #1 for RSA; for curves over prime fields a point, with the
/// private number behind it; 32 bytes for the others.
///
/// The attributes must say its type and its class. nil where the bytes are no such key.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    // Safe: `result` writes at most once, to the caller's own place for an error.
    unsafe result(tellingIn: error) { () throws(Refusal) -> SecKey in
        let words = try KeyWords(attributes)
        guard let type = try words.type(), let keyClass = try words.keyClass() else {
            throw .badRequest
        }
        let content: KeyContent? =
            switch keyClass {
            case KeyClass.privateKey:
                KeyContent(privateKey: HeldSecret(keyData.copiedSecret), type)
            case KeyClass.publicKey: KeyContent(publicKey: keyData.copiedBytes, type)
            default: nil
            }
        guard let content else { throw .badRequest }
        return SecKey(content)
    }
}

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

/// What was made, or nil with the refusal told in `error`.
func result<Object>(
    tellingIn error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    of make: () throws(Refusal) -> Object
) -> Object? {
    do {
        return try make()
    } catch let refusal {
        // Safe: the caller's own place for an error; the caller releases it.
        unsafe error?.pointee = Unmanaged.passRetained(NSError(status: refusal.status))
        return nil
    }
}
