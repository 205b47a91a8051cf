// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// Makes a key of the type and size that the parameters say, and returns its private half.
///
/// A half whose own attributes (`kSecPrivateKeyAttrs`, `kSecPublicKeyAttrs`) say that it is permanent
/// is added to the keychain. RSA keys have 2048 to 4096 bits, others the bits of their curve.
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    // Safe: `result` writes at most once, to the caller's own place for an error.
    unsafe result(tellingIn: error) { () throws(Refusal) -> SecKey in
        try newKey(KeyWords(parameters))
    }
}

private func newKey(_ words: KeyWords) throws(Refusal) -> SecKey {
    let privateWords = try words.half(KeyWords.privateKeyAttributes)
    let publicWords = try words.half(KeyWords.publicKeyAttributes)
    guard let type = try words.type() else { throw .badRequest }
    // There is no hardware here that keeps keys to itself.
    guard !privateWords.hasToken else { throw .notImplemented }
    guard let kind = KeyKind(new: type, bits: try words.bits()) else { throw .badRequest }
    let content: KeyContent
    do { content = try KeyContent(generating: kind) } catch { throw .internalError }
    let key = SecKey(content)
    let kept = try keep(key, privateWords)
    do throws(Refusal) {
        _ = try keep(SecKey(content.publicKey), publicWords)
    } catch {
        // Both halves or none.
        if let kept {
            let query: [String: Any] = [QueryWords.ValueKey.persistentReference.rawValue: kept]
            SecItemDelete(query as CFDictionary)
        }
        throw error
    }
    return key
}

/// Adds a permanent key, and returns the name of its item.
private func keep(_ key: SecKey, _ words: KeyWords) throws(Refusal) -> CFTypeRef? {
    guard try words.isPermanent() else { return nil }
    return try addItem(Addition(words.item(of: key)))
}
