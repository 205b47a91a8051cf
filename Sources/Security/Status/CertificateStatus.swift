// SPDX-License-Identifier: Apache-2.0

// Statuses about certificates, revocation lists and OCSP.

public var errSecHostNameMismatch: OSStatus { -67602 }
public var errSecUnknownCriticalExtensionFlag: OSStatus { -67603 }
public var errSecNoBasicConstraints: OSStatus { -67604 }
public var errSecNoBasicConstraintsCA: OSStatus { -67605 }
public var errSecInvalidAuthorityKeyID: OSStatus { -67606 }
public var errSecInvalidSubjectKeyID: OSStatus { -67607 }
public var errSecInvalidKeyUsageForPolicy: OSStatus { -67608 }
public var errSecInvalidExtendedKeyUsage: OSStatus { -67609 }
public var errSecInvalidIDLinkage: OSStatus { -67610 }
public var errSecPathLengthConstraintExceeded: OSStatus { -67611 }
public var errSecInvalidRoot: OSStatus { -67612 }
public var errSecCRLExpired: OSStatus { -67613 }
public var errSecCRLNotValidYet: OSStatus { -67614 }
public var errSecCRLNotFound: OSStatus { -67615 }
public var errSecCRLServerDown: OSStatus { -67616 }
public var errSecCRLBadURI: OSStatus { -67617 }
public var errSecUnknownCertExtension: OSStatus { -67618 }
public var errSecUnknownCRLExtension: OSStatus { -67619 }
public var errSecCRLNotTrusted: OSStatus { -67620 }
public var errSecCRLPolicyFailed: OSStatus { -67621 }
public var errSecIDPFailure: OSStatus { -67622 }
public var errSecSMIMEEmailAddressesNotFound: OSStatus { -67623 }
public var errSecSMIMEBadExtendedKeyUsage: OSStatus { -67624 }
public var errSecSMIMEBadKeyUsage: OSStatus { -67625 }
public var errSecSMIMEKeyUsageNotCritical: OSStatus { -67626 }
public var errSecSMIMENoEmailAddress: OSStatus { -67627 }
public var errSecSMIMESubjAltNameNotCritical: OSStatus { -67628 }
public var errSecSSLBadExtendedKeyUsage: OSStatus { -67629 }
public var errSecOCSPBadResponse: OSStatus { -67630 }
public var errSecOCSPBadRequest: OSStatus { -67631 }
public var errSecOCSPUnavailable: OSStatus { -67632 }
public var errSecOCSPStatusUnrecognized: OSStatus { -67633 }
public var errSecEndOfData: OSStatus { -67634 }
public var errSecIncompleteCertRevocationCheck: OSStatus { -67635 }
public var errSecNetworkFailure: OSStatus { -67636 }
public var errSecOCSPNotTrustedToAnchor: OSStatus { -67637 }
public var errSecRecordModified: OSStatus { -67638 }
public var errSecOCSPSignatureError: OSStatus { -67639 }
public var errSecOCSPNoSigner: OSStatus { -67640 }
public var errSecOCSPResponderMalformedReq: OSStatus { -67641 }
public var errSecOCSPResponderInternalError: OSStatus { -67642 }
public var errSecOCSPResponderTryLater: OSStatus { -67643 }
public var errSecOCSPResponderSignatureRequired: OSStatus { -67644 }
public var errSecOCSPResponderUnauthorized: OSStatus { -67645 }
public var errSecOCSPResponseNonceMismatch: OSStatus { -67646 }
public var errSecCodeSigningBadCertChainLength: OSStatus { -67647 }
public var errSecCodeSigningNoBasicConstraints: OSStatus { -67648 }
public var errSecCodeSigningBadPathLengthConstraint: OSStatus { -67649 }
public var errSecCodeSigningNoExtendedKeyUsage: OSStatus { -67650 }
public var errSecCodeSigningDevelopment: OSStatus { -67651 }
public var errSecResourceSignBadCertChainLength: OSStatus { -67652 }
public var errSecResourceSignBadExtKeyUsage: OSStatus { -67653 }
public var errSecTrustSettingDeny: OSStatus { -67654 }
public var errSecInvalidSubjectName: OSStatus { -67655 }
public var errSecUnknownQualifiedCertStatement: OSStatus { -67656 }

extension StatusMessages {
    static let certificate: [OSStatus: String] = [
        errSecHostNameMismatch: "The host name does not match the certificate.",
        errSecUnknownCriticalExtensionFlag: "The certificate has an unknown critical extension.",
        errSecNoBasicConstraints: "The certificate has no basic constraints.",
        errSecNoBasicConstraintsCA:
            "The basic constraints do not identify a certificate authority.",
        errSecInvalidAuthorityKeyID: "The authority's key identifier is not valid.",
        errSecInvalidSubjectKeyID: "The subject's key identifier is not valid.",
        errSecInvalidKeyUsageForPolicy: "The key usage is not valid for the policy.",
        errSecInvalidExtendedKeyUsage: "The extended key usage is not valid.",
        errSecInvalidIDLinkage: "The certificate's identifiers do not match its issuer.",
        errSecPathLengthConstraintExceeded: "The path length constraint was exceeded.",
        errSecInvalidRoot: "The root certificate is not valid.",
        errSecCRLExpired: "The revocation list has expired.",
        errSecCRLNotValidYet: "The revocation list is not yet valid.",
        errSecCRLNotFound: "The revocation list was not found.",
        errSecCRLServerDown: "The revocation list server is not responding.",
        errSecCRLBadURI: "The address of the revocation list is not valid.",
        errSecUnknownCertExtension: "The certificate has an unknown extension.",
        errSecUnknownCRLExtension: "The revocation list has an unknown extension.",
        errSecCRLNotTrusted: "The revocation list is not trusted.",
        errSecCRLPolicyFailed: "The revocation list does not meet the policy.",
        errSecIDPFailure: "The revocation list's distribution point does not match.",
        errSecSMIMEEmailAddressesNotFound: "The email address was not found in the certificate.",
        errSecSMIMEBadExtendedKeyUsage: "The extended key usage is not valid for S/MIME.",
        errSecSMIMEBadKeyUsage: "The key usage is not valid for S/MIME.",
        errSecSMIMEKeyUsageNotCritical:
            "The key usage of an S/MIME certificate is not marked critical.",
        errSecSMIMENoEmailAddress: "The certificate has no email address.",
        errSecSMIMESubjAltNameNotCritical:
            "The alternative name of an S/MIME certificate is not marked critical.",
        errSecSSLBadExtendedKeyUsage: "The extended key usage is not valid for TLS.",
        errSecOCSPBadResponse: "The OCSP response could not be read.",
        errSecOCSPBadRequest: "The OCSP request is not valid.",
        errSecOCSPUnavailable: "The OCSP service is not available.",
        errSecOCSPStatusUnrecognized: "The OCSP service does not know the certificate.",
        errSecEndOfData: "The end of the data was reached.",
        errSecIncompleteCertRevocationCheck:
            "Not every certificate could be checked for revocation.",
        errSecNetworkFailure: "A network failure occurred.",
        errSecOCSPNotTrustedToAnchor: "The OCSP response does not chain to a trusted anchor.",
        errSecRecordModified: "The record was modified by another process.",
        errSecOCSPSignatureError: "The signature of the OCSP response is not valid.",
        errSecOCSPNoSigner: "The OCSP response has no signer.",
        errSecOCSPResponderMalformedReq: "The OCSP service reported a malformed request.",
        errSecOCSPResponderInternalError: "The OCSP service reported an internal error.",
        errSecOCSPResponderTryLater: "The OCSP service is busy. Try again later.",
        errSecOCSPResponderSignatureRequired: "The OCSP service requires a signed request.",
        errSecOCSPResponderUnauthorized: "The OCSP service refused this client.",
        errSecOCSPResponseNonceMismatch: "The OCSP response does not match the request.",
        errSecCodeSigningBadCertChainLength:
            "The length of the certificate chain is not valid for code signing.",
        errSecCodeSigningNoBasicConstraints: "A code signing certificate has no basic constraints.",
        errSecCodeSigningBadPathLengthConstraint:
            "The path length constraint is not valid for code signing.",
        errSecCodeSigningNoExtendedKeyUsage:
            "A code signing certificate has no extended key usage.",
        errSecCodeSigningDevelopment: "The certificate is valid for development only.",
        errSecResourceSignBadCertChainLength:
            "The length of the certificate chain is not valid for resource signing.",
        errSecResourceSignBadExtKeyUsage:
            "The extended key usage is not valid for resource signing.",
        errSecTrustSettingDeny: "The trust settings deny this certificate.",
        errSecInvalidSubjectName: "The subject's name is not valid.",
        errSecUnknownQualifiedCertStatement: "The certificate has an unknown qualified statement.",
    ]
}
