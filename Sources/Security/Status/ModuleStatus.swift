// SPDX-License-Identifier: Apache-2.0

// Statuses about modules, handles and access control lists.

public var errSecNotInitialized: OSStatus { -67667 }
public var errSecInvalidHandleUsage: OSStatus { -67668 }
public var errSecPVCReferentNotFound: OSStatus { -67669 }
public var errSecFunctionIntegrityFail: OSStatus { -67670 }
public var errSecInternalError: OSStatus { -67671 }
public var errSecMemoryError: OSStatus { -67672 }
public var errSecInvalidData: OSStatus { -67673 }
public var errSecMDSError: OSStatus { -67674 }
public var errSecInvalidPointer: OSStatus { -67675 }
public var errSecSelfCheckFailed: OSStatus { -67676 }
public var errSecFunctionFailed: OSStatus { -67677 }
public var errSecModuleManifestVerifyFailed: OSStatus { -67678 }
public var errSecInvalidGUID: OSStatus { -67679 }
public var errSecInvalidHandle: OSStatus { -67680 }
public var errSecInvalidDBList: OSStatus { -67681 }
public var errSecInvalidPassthroughID: OSStatus { -67682 }
public var errSecInvalidNetworkAddress: OSStatus { -67683 }
public var errSecCRLAlreadySigned: OSStatus { -67684 }
public var errSecInvalidNumberOfFields: OSStatus { -67685 }
public var errSecVerificationFailure: OSStatus { -67686 }
public var errSecUnknownTag: OSStatus { -67687 }
public var errSecInvalidSignature: OSStatus { -67688 }
public var errSecInvalidName: OSStatus { -67689 }
public var errSecInvalidCertificateRef: OSStatus { -67690 }
public var errSecInvalidCertificateGroup: OSStatus { -67691 }
public var errSecTagNotFound: OSStatus { -67692 }
public var errSecInvalidQuery: OSStatus { -67693 }
public var errSecInvalidValue: OSStatus { -67694 }
public var errSecCallbackFailed: OSStatus { -67695 }
public var errSecACLDeleteFailed: OSStatus { -67696 }
public var errSecACLReplaceFailed: OSStatus { -67697 }
public var errSecACLAddFailed: OSStatus { -67698 }
public var errSecACLChangeFailed: OSStatus { -67699 }
public var errSecInvalidAccessCredentials: OSStatus { -67700 }
public var errSecInvalidRecord: OSStatus { -67701 }
public var errSecInvalidACL: OSStatus { -67702 }

extension StatusMessages {
    static let module: [OSStatus: String] = [
        errSecNotInitialized: "A function was called before initialization.",
        errSecInvalidHandleUsage: "The handle cannot be used for this operation.",
        errSecPVCReferentNotFound: "The object to be verified was not found.",
        errSecFunctionIntegrityFail: "The integrity of a function could not be verified.",
        errSecInternalError: "An internal error occurred.",
        errSecMemoryError: "A memory error occurred.",
        errSecInvalidData: "The data is not valid.",
        errSecMDSError: "The module directory reported an error.",
        errSecInvalidPointer: "The pointer is not valid.",
        errSecSelfCheckFailed: "The self-check failed.",
        errSecFunctionFailed: "The function failed.",
        errSecModuleManifestVerifyFailed: "The manifest of a module could not be verified.",
        errSecInvalidGUID: "The unique identifier is not valid.",
        errSecInvalidHandle: "The handle is not valid.",
        errSecInvalidDBList: "The database list is not valid.",
        errSecInvalidPassthroughID: "The pass-through ID is not valid.",
        errSecInvalidNetworkAddress: "The network address is not valid.",
        errSecCRLAlreadySigned: "The revocation list is already signed.",
        errSecInvalidNumberOfFields: "The number of fields is not valid.",
        errSecVerificationFailure: "The verification failed.",
        errSecUnknownTag: "The tag is unknown.",
        errSecInvalidSignature: "The signature is not valid.",
        errSecInvalidName: "The name is not valid.",
        errSecInvalidCertificateRef: "The certificate reference is not valid.",
        errSecInvalidCertificateGroup: "The certificate group is not valid.",
        errSecTagNotFound: "The tag was not found.",
        errSecInvalidQuery: "The query is not valid.",
        errSecInvalidValue: "The value is not valid.",
        errSecCallbackFailed: "A callback failed.",
        errSecACLDeleteFailed: "The access control list could not be deleted.",
        errSecACLReplaceFailed: "The access control list could not be replaced.",
        errSecACLAddFailed: "An entry could not be added to the access control list.",
        errSecACLChangeFailed: "The access control list could not be changed.",
        errSecInvalidAccessCredentials: "The credentials are not valid.",
        errSecInvalidRecord: "The record is not valid.",
        errSecInvalidACL: "The access control list is not valid.",
    ]
}
