// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets

/// A key from its external form: PKCS #1 for RSA; for curves over prime fields a point, followed by
/// the number of a private key; 32 bytes for the others.
///
/// The attributes must name its type and its class. Returns nil where the bytes are no such key.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    // Safe: `result` writes at most once, to the caller's own variable for an error.
    unsafe result(tellingIn: error) { () throws(RequestError) -> SecKey in
        let parameters = try KeyParameters(attributes)
        guard let type = try parameters.type(), let keyClass = try parameters.keyClass() else {
            throw .invalid(.badRequest)
        }
        let content: KeyContent? =
            switch keyClass {
            case KeyClass.privateKey:
                KeyContent(privateKey: HeldSecret(keyData.copiedSecret), type)
            case KeyClass.publicKey: KeyContent(publicKey: keyData.copiedBytes, type)
            default: nil
            }
        guard let content else { throw .invalid(.badRequest) }
        return SecKey(content)
    }
}
