// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates

/// A certificate from its DER encoding; nil for any other data.
public func SecCertificateCreateWithData(
    _ allocator: CFAllocator?, _ data: CFData
) -> SecCertificate? {
    SecCertificate(data.copiedBytes)
}

/// The certificate's DER encoding.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.content.der) as NSData
}

/// A name of the certificate's subject, for display.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.content.summary.map { $0 as NSString }
}

/// The subject's common name, the last where there are several; errSecInternal where there is none.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    let names = certificate.content.subject.texts(of: DistinguishedName.commonName)
    guard let name = names.last else { return errSecInternal }
    // Safe: the caller's own variable for the answer.
    unsafe commonName.pointee = name as NSString
    return errSecSuccess
}

/// The e-mail addresses of the certificate; the array may be empty.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    // Safe: the caller's own variable for the answer.
    unsafe emailAddresses.pointee =
        certificate.content.emailAddresses.map { $0 as NSString } as NSArray
    return errSecSuccess
}

/// The issuer's name in the form in which names are compared, as a DER sequence.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.content.issuer.normalized) as NSData
}

/// The subject's name in the form in which names are compared, as a DER sequence.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.content.subject.normalized) as NSData
}

/// The bytes of the serial number's integer.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.content.serialNumber) as NSData
}

/// The certificate's public key; nil for an unknown type of key.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    let publicKey = certificate.content.publicKey
    guard let type = KeyKind.KeyType(publicKey),
        let content = KeyContent(publicKey: publicKey.bits, type)
    else { return nil }
    return SecKey(content)
}
