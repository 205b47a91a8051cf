// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// Makes a key pair of the type and size in the parameters, and returns its private half.
///
/// A half whose own attributes (`kSecPrivateKeyAttrs`, `kSecPublicKeyAttrs`) declare it permanent
/// is added to the keychain. RSA keys have 2048 to 4096 bits, others the bits of their curve.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    // Safe: `result` writes at most once, to the caller's own variable for an error.
    unsafe result(tellingIn: error) { () throws(RequestError) -> SecKey in
        try newKey(KeyParameters(parameters))
    }
}

private func newKey(_ parameters: KeyParameters) throws(RequestError) -> SecKey {
    let ofPrivate = try parameters.half(KeyParameters.privateKeyAttributes)
    let ofPublic = try parameters.half(KeyParameters.publicKeyAttributes)
    guard let type = try parameters.type() else { throw .invalid(.badRequest) }
    // No hardware here keeps keys to itself.
    guard !ofPrivate.hasToken else { throw .invalid(.notImplemented) }
    guard let kind = KeyKind(new: type, bits: try parameters.bits()) else {
        throw .invalid(.badRequest)
    }
    let content: KeyContent
    do { content = try KeyContent(generating: kind) } catch { throw .failed(.internalError) }
    let key = SecKey(content)
    let added = try addIfPermanent(key, ofPrivate)
    do throws(RequestError) {
        _ = try addIfPermanent(SecKey(content.publicKey), ofPublic)
    } catch {
        // Either both halves are added, or none.
        if let added {
            let query: [String: Any] = [
                QueryParameters.ValueKey.persistentReference.rawValue: added
            ]
            SecItemDelete(query as CFDictionary)
        }
        throw error
    }
    return key
}

/// Adds a permanent key, and returns its item's persistent reference.
private func addIfPermanent(_ key: SecKey, _ parameters: KeyParameters) throws(RequestError)
    -> CFTypeRef?
{
    guard try parameters.isPermanent() else { return nil }
    return try addItem(Addition(parameters.item(of: key)))
}
