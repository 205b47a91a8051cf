// SPDX-License-Identifier: Apache-2.0

// Statuses about access, trust, import and export.

public var errSecACLNotSimple: OSStatus { -25240 }
public var errSecPolicyNotFound: OSStatus { -25241 }
public var errSecInvalidTrustSetting: OSStatus { -25242 }
public var errSecNoAccessForItem: OSStatus { -25243 }
public var errSecInvalidOwnerEdit: OSStatus { -25244 }
public var errSecTrustNotAvailable: OSStatus { -25245 }
public var errSecUnsupportedFormat: OSStatus { -25256 }
public var errSecUnknownFormat: OSStatus { -25257 }
public var errSecKeyIsSensitive: OSStatus { -25258 }
public var errSecMultiplePrivKeys: OSStatus { -25259 }
public var errSecPassphraseRequired: OSStatus { -25260 }
public var errSecInvalidPasswordRef: OSStatus { -25261 }
public var errSecInvalidTrustSettings: OSStatus { -25262 }
public var errSecNoTrustSettings: OSStatus { -25263 }
public var errSecPkcs12VerifyFailure: OSStatus { -25264 }
public var errSecNotSigner: OSStatus { -26267 }
public var errSecDecode: OSStatus { -26275 }
public var errSecInternal: OSStatus { -26276 }

extension StatusMessages {
    static let trust: [OSStatus: String] = [
        errSecACLNotSimple: "The access control list is not a simple list of applications.",
        errSecPolicyNotFound: "The policy could not be found.",
        errSecInvalidTrustSetting: "The trust setting is not valid.",
        errSecNoAccessForItem: "The item has no access control.",
        errSecInvalidOwnerEdit: "The owner of this item cannot be changed.",
        errSecTrustNotAvailable: "No trust result is available.",
        errSecUnsupportedFormat: "The import or export format is not supported.",
        errSecUnknownFormat: "The format of the item to import is unknown.",
        errSecKeyIsSensitive: "This key can only be exported in wrapped form.",
        errSecMultiplePrivKeys: "Only one private key can be imported at a time.",
        errSecPassphraseRequired: "A password is required to import or export this item.",
        errSecInvalidPasswordRef: "The password reference is not valid.",
        errSecInvalidTrustSettings: "The trust settings are damaged.",
        errSecNoTrustSettings: "No trust settings were found.",
        errSecPkcs12VerifyFailure: "MAC verification failed during PKCS12 import (wrong password?)",
        errSecNotSigner: "The certificate was not signed by its proposed issuer.",
        errSecDecode: "Unable to decode the provided data.",
        errSecInternal: "An internal error occurred in the keychain.",
    ]
}
