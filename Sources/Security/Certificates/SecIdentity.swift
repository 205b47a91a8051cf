// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates

/// A certificate and the private key that belongs to it.
public final class SecIdentity: NSObject, @unchecked Sendable {
    let certificate: SecCertificate
    let privateKey: SecKey

    init(_ certificate: SecCertificate, _ privateKey: SecKey) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    public override var hash: Int { certificate.hash }
    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecIdentity else { return false }
        return certificate == other.certificate && privateKey == other.privateKey
    }
}

/// An identity of a certificate and its key; nil where the key is not private, or does not belong
/// to the certificate.
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard privateKey.content.isPrivate,
        KeyLabel.of(privateKey.content.publicBytes) == certificate.publicKeyHash
    else { return nil }
    return SecIdentity(certificate, privateKey)
}

@discardableResult
public func SecIdentityCopyCertificate(
    _ identity: SecIdentity, _ certificate: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    // Safe: the caller's own variable for the answer.
    unsafe certificate.pointee = identity.certificate
    return errSecSuccess
}

@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identity: SecIdentity, _ privateKey: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    // Safe: the caller's own variable for the answer.
    unsafe privateKey.pointee = identity.privateKey
    return errSecSuccess
}
