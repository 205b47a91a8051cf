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
