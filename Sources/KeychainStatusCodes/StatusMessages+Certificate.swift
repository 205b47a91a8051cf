// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let certificate: [Int32: String] = [
        -67602: "The host name does not match the certificate.",
        -67603: "The certificate has an unknown critical extension.",
        -67604: "The certificate has no basic constraints.",
        -67605:
            "The basic constraints do not identify a certificate authority.",
        -67606: "The authority's key identifier is not valid.",
        -67607: "The subject's key identifier is not valid.",
        -67608: "The key usage is not valid for the policy.",
        -67609: "The extended key usage is not valid.",
        -67610: "The certificate's identifiers do not match its issuer.",
        -67611: "The path length constraint was exceeded.",
        -67612: "The root certificate is not valid.",
        -67613: "The revocation list has expired.",
        -67614: "The revocation list is not yet valid.",
        -67615: "The revocation list was not found.",
        -67616: "The revocation list server is not responding.",
        -67617: "The address of the revocation list is not valid.",
        -67618: "The certificate has an unknown extension.",
        -67619: "The revocation list has an unknown extension.",
        -67620: "The revocation list is not trusted.",
        -67621: "The revocation list does not meet the policy.",
        -67622: "The revocation list's distribution point does not match.",
        -67623: "The email address was not found in the certificate.",
        -67624: "The extended key usage is not valid for S/MIME.",
        -67625: "The key usage is not valid for S/MIME.",
        -67626:
            "The key usage of an S/MIME certificate is not marked critical.",
        -67627: "The certificate has no email address.",
        -67628:
            "The alternative name of an S/MIME certificate is not marked critical.",
        -67629: "The extended key usage is not valid for TLS.",
        -67630: "The OCSP response could not be read.",
        -67631: "The OCSP request is not valid.",
        -67632: "The OCSP service is not available.",
        -67633: "The OCSP service does not know the certificate.",
        -67634: "The end of the data was reached.",
        -67635:
            "Not every certificate could be checked for revocation.",
        -67636: "A network failure occurred.",
        -67637: "The OCSP response does not chain to a trusted anchor.",
        -67638: "The record was modified by another process.",
        -67639: "The signature of the OCSP response is not valid.",
        -67640: "The OCSP response has no signer.",
        -67641: "The OCSP service reported a malformed request.",
        -67642: "The OCSP service reported an internal error.",
        -67643: "The OCSP service is busy. Try again later.",
        -67644: "The OCSP service requires a signed request.",
        -67645: "The OCSP service refused this client.",
        -67646: "The OCSP response does not match the request.",
        -67647:
            "The length of the certificate chain is not valid for code signing.",
        -67648: "A code signing certificate has no basic constraints.",
        -67649:
            "The path length constraint is not valid for code signing.",
        -67650:
            "A code signing certificate has no extended key usage.",
        -67651: "The certificate is valid for development only.",
        -67652:
            "The length of the certificate chain is not valid for resource signing.",
        -67653:
            "The extended key usage is not valid for resource signing.",
        -67654: "The trust settings deny this certificate.",
        -67655: "The subject's name is not valid.",
        -67656: "The certificate has an unknown qualified statement.",
    ]
}
