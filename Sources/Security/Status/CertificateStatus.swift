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
        errSecHostNameMismatch: "The certificate is for another host.",
        errSecUnknownCriticalExtensionFlag:
            "The certificate has a critical extension that is not known.",
        errSecNoBasicConstraints: "The certificate has no basic constraints.",
        errSecNoBasicConstraintsCA:
            "The basic constraints do not say that this is a certificate authority.",
        errSecInvalidAuthorityKeyID: "The authority's key identifier is not valid.",
        errSecInvalidSubjectKeyID: "The subject's key identifier is not valid.",
        errSecInvalidKeyUsageForPolicy: "The key usage does not fit the policy.",
        errSecInvalidExtendedKeyUsage: "The extended key usage is not valid.",
        errSecInvalidIDLinkage: "The certificate's identifiers do not lead to its issuer.",
        errSecPathLengthConstraintExceeded:
            "The chain of certificates is longer than one of them allows.",
        errSecInvalidRoot: "The root certificate is not valid.",
        errSecCRLExpired: "The revocation list has expired.",
        errSecCRLNotValidYet: "The revocation list is not valid yet.",
        errSecCRLNotFound: "The revocation list was not found.",
        errSecCRLServerDown: "The server of the revocation list does not answer.",
        errSecCRLBadURI: "The address of the revocation list is not valid.",
        errSecUnknownCertExtension: "The certificate has an extension that is not known.",
        errSecUnknownCRLExtension: "The revocation list has an extension that is not known.",
        errSecCRLNotTrusted: "The revocation list is not trusted.",
        errSecCRLPolicyFailed: "The revocation list does not fit the policy.",
        errSecIDPFailure: "The revocation list's distribution point does not match.",
        errSecSMIMEEmailAddressesNotFound: "The mail address does not occur in the certificate.",
        errSecSMIMEBadExtendedKeyUsage: "The extended key usage does not fit signed mail.",
        errSecSMIMEBadKeyUsage: "The key usage does not fit signed mail.",
        errSecSMIMEKeyUsageNotCritical:
            "The key usage of a certificate for signed mail is not marked critical.",
        errSecSMIMENoEmailAddress: "The certificate has no mail address.",
        errSecSMIMESubjAltNameNotCritical:
            "The alternative name of a certificate for signed mail is not marked critical.",
        errSecSSLBadExtendedKeyUsage: "The extended key usage does not fit TLS.",
        errSecOCSPBadResponse: "The OCSP response cannot be understood.",
        errSecOCSPBadRequest: "The OCSP request was not understood.",
        errSecOCSPUnavailable: "The OCSP service is not available.",
        errSecOCSPStatusUnrecognized: "The OCSP service does not know the certificate.",
        errSecEndOfData: "The data has come to its end.",
        errSecIncompleteCertRevocationCheck:
            "Not every certificate could be checked for revocation.",
        errSecNetworkFailure: "The network failed.",
        errSecOCSPNotTrustedToAnchor: "The OCSP response does not lead to a trusted anchor.",
        errSecRecordModified: "The record was changed meanwhile.",
        errSecOCSPSignatureError: "The signature of the OCSP response is not valid.",
        errSecOCSPNoSigner: "The OCSP response has no signer.",
        errSecOCSPResponderMalformedReq: "The OCSP service says that the request is malformed.",
        errSecOCSPResponderInternalError: "The OCSP service failed.",
        errSecOCSPResponderTryLater: "The OCSP service is busy. Try later.",
        errSecOCSPResponderSignatureRequired: "The OCSP service wants the request signed.",
        errSecOCSPResponderUnauthorized: "The OCSP service does not answer this caller.",
        errSecOCSPResponseNonceMismatch: "The OCSP response belongs to another request.",
        errSecCodeSigningBadCertChainLength:
            "The chain of certificates has a wrong length for signed code.",
        errSecCodeSigningNoBasicConstraints:
            "A certificate for signed code has no basic constraints.",
        errSecCodeSigningBadPathLengthConstraint:
            "A certificate for signed code allows a wrong length of the chain.",
        errSecCodeSigningNoExtendedKeyUsage:
            "A certificate for signed code has no extended key usage.",
        errSecCodeSigningDevelopment: "The certificate is for code under development only.",
        errSecResourceSignBadCertChainLength:
            "The chain of certificates has a wrong length for signed resources.",
        errSecResourceSignBadExtKeyUsage: "The extended key usage does not fit signed resources.",
        errSecTrustSettingDeny: "The trust settings deny this certificate.",
        errSecInvalidSubjectName: "The subject's name is not valid.",
        errSecUnknownQualifiedCertStatement:
            "The certificate has a qualified statement that is not known.",
    ]
}
