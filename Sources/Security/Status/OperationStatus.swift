// SPDX-License-Identifier: Apache-2.0

// Statuses about operations, certificates' states and authorities.

public var errSecStagedOperationInProgress: OSStatus { -67806 }
public var errSecStagedOperationNotStarted: OSStatus { -67807 }
public var errSecVerifyFailed: OSStatus { -67808 }
public var errSecQuerySizeUnknown: OSStatus { -67809 }
public var errSecBlockSizeMismatch: OSStatus { -67810 }
public var errSecPublicKeyInconsistent: OSStatus { -67811 }
public var errSecDeviceVerifyFailed: OSStatus { -67812 }
public var errSecInvalidLoginName: OSStatus { -67813 }
public var errSecAlreadyLoggedIn: OSStatus { -67814 }
public var errSecInvalidDigestAlgorithm: OSStatus { -67815 }
public var errSecInvalidCRLGroup: OSStatus { -67816 }
public var errSecCertificateCannotOperate: OSStatus { -67817 }
public var errSecCertificateExpired: OSStatus { -67818 }
public var errSecCertificateNotValidYet: OSStatus { -67819 }
public var errSecCertificateRevoked: OSStatus { -67820 }
public var errSecCertificateSuspended: OSStatus { -67821 }
public var errSecInsufficientCredentials: OSStatus { -67822 }
public var errSecInvalidAction: OSStatus { -67823 }
public var errSecInvalidAuthority: OSStatus { -67824 }
public var errSecVerifyActionFailed: OSStatus { -67825 }
public var errSecInvalidCertAuthority: OSStatus { -67826 }
public var errSecInvalidCRLAuthority: OSStatus { -67827 }
public var errSecInvalidCRLEncoding: OSStatus { -67828 }
public var errSecInvalidCRLType: OSStatus { -67829 }
public var errSecInvalidCRL: OSStatus { -67830 }
public var errSecInvalidFormType: OSStatus { -67831 }
public var errSecInvalidID: OSStatus { -67832 }
public var errSecInvalidIdentifier: OSStatus { -67833 }
public var errSecInvalidIndex: OSStatus { -67834 }
public var errSecInvalidPolicyIdentifiers: OSStatus { -67835 }
public var errSecInvalidTimeString: OSStatus { -67836 }
public var errSecInvalidReason: OSStatus { -67837 }
public var errSecInvalidRequestInputs: OSStatus { -67838 }
public var errSecInvalidResponseVector: OSStatus { -67839 }
public var errSecInvalidStopOnPolicy: OSStatus { -67840 }
public var errSecInvalidTuple: OSStatus { -67841 }
public var errSecMultipleValuesUnsupported: OSStatus { -67842 }
public var errSecNotTrusted: OSStatus { -67843 }
public var errSecNoDefaultAuthority: OSStatus { -67844 }
