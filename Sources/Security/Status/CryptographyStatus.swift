// SPDX-License-Identifier: Apache-2.0

// Statuses about keys, algorithms and what they work on.

public var errSecInvalidSampleValue: OSStatus { -67703 }
public var errSecIncompatibleVersion: OSStatus { -67704 }
public var errSecPrivilegeNotGranted: OSStatus { -67705 }
public var errSecInvalidScope: OSStatus { -67706 }
public var errSecPVCAlreadyConfigured: OSStatus { -67707 }
public var errSecInvalidPVC: OSStatus { -67708 }
public var errSecEMMLoadFailed: OSStatus { -67709 }
public var errSecEMMUnloadFailed: OSStatus { -67710 }
public var errSecAddinLoadFailed: OSStatus { -67711 }
public var errSecInvalidKeyRef: OSStatus { -67712 }
public var errSecInvalidKeyHierarchy: OSStatus { -67713 }
public var errSecAddinUnloadFailed: OSStatus { -67714 }
public var errSecLibraryReferenceNotFound: OSStatus { -67715 }
public var errSecInvalidAddinFunctionTable: OSStatus { -67716 }
public var errSecInvalidServiceMask: OSStatus { -67717 }
public var errSecModuleNotLoaded: OSStatus { -67718 }
public var errSecInvalidSubServiceID: OSStatus { -67719 }
public var errSecAttributeNotInContext: OSStatus { -67720 }
public var errSecModuleManagerInitializeFailed: OSStatus { -67721 }
public var errSecModuleManagerNotFound: OSStatus { -67722 }
public var errSecEventNotificationCallbackNotFound: OSStatus { -67723 }
public var errSecInputLengthError: OSStatus { -67724 }
public var errSecOutputLengthError: OSStatus { -67725 }
public var errSecPrivilegeNotSupported: OSStatus { -67726 }
public var errSecDeviceError: OSStatus { -67727 }
public var errSecAttachHandleBusy: OSStatus { -67728 }
public var errSecNotLoggedIn: OSStatus { -67729 }
public var errSecAlgorithmMismatch: OSStatus { -67730 }
public var errSecKeyUsageIncorrect: OSStatus { -67731 }
public var errSecKeyBlobTypeIncorrect: OSStatus { -67732 }
public var errSecKeyHeaderInconsistent: OSStatus { -67733 }
public var errSecUnsupportedKeyFormat: OSStatus { -67734 }
public var errSecUnsupportedKeySize: OSStatus { -67735 }
public var errSecInvalidKeyUsageMask: OSStatus { -67736 }
public var errSecUnsupportedKeyUsageMask: OSStatus { -67737 }
public var errSecInvalidKeyAttributeMask: OSStatus { -67738 }
public var errSecUnsupportedKeyAttributeMask: OSStatus { -67739 }
public var errSecInvalidKeyLabel: OSStatus { -67740 }
public var errSecUnsupportedKeyLabel: OSStatus { -67741 }
public var errSecInvalidKeyFormat: OSStatus { -67742 }
public var errSecUnsupportedVectorOfBuffers: OSStatus { -67743 }
public var errSecInvalidInputVector: OSStatus { -67744 }
public var errSecInvalidOutputVector: OSStatus { -67745 }
public var errSecInvalidContext: OSStatus { -67746 }
public var errSecInvalidAlgorithm: OSStatus { -67747 }

extension StatusMessages {
    static let cryptography: [OSStatus: String] = [
        errSecInvalidSampleValue: "A sample value is not valid.",
        errSecIncompatibleVersion: "The version is not compatible.",
        errSecPrivilegeNotGranted: "The privilege was not granted.",
        errSecInvalidScope: "The scope is not valid.",
        errSecPVCAlreadyConfigured: "Verification is already configured.",
        errSecInvalidPVC: "The verification is not valid.",
        errSecEMMLoadFailed: "The module manager could not be loaded.",
        errSecEMMUnloadFailed: "The module manager could not be unloaded.",
        errSecAddinLoadFailed: "The add-in could not be loaded.",
        errSecInvalidKeyRef: "The key reference is not valid.",
        errSecInvalidKeyHierarchy: "The key hierarchy is not valid.",
        errSecAddinUnloadFailed: "The add-in could not be unloaded.",
        errSecLibraryReferenceNotFound: "The library reference was not found.",
        errSecInvalidAddinFunctionTable: "The add-in's function table is not valid.",
        errSecInvalidServiceMask: "The service mask is not valid.",
        errSecModuleNotLoaded: "The module is not loaded.",
        errSecInvalidSubServiceID: "The sub-service ID is not valid.",
        errSecAttributeNotInContext: "The attribute is not in the context.",
        errSecModuleManagerInitializeFailed: "The module manager could not be initialized.",
        errSecModuleManagerNotFound: "The module manager was not found.",
        errSecEventNotificationCallbackNotFound: "The event callback was not found.",
        errSecInputLengthError: "The input length is not valid.",
        errSecOutputLengthError: "The output length is not valid.",
        errSecPrivilegeNotSupported: "The privilege is not supported.",
        errSecDeviceError: "A device error occurred.",
        errSecAttachHandleBusy: "The handle is in use.",
        errSecNotLoggedIn: "No user is logged in.",
        errSecAlgorithmMismatch: "The algorithm does not match.",
        errSecKeyUsageIncorrect: "The key cannot be used for this operation.",
        errSecKeyBlobTypeIncorrect: "The type of the stored key is not correct.",
        errSecKeyHeaderInconsistent: "The key's header is inconsistent.",
        errSecUnsupportedKeyFormat: "The key format is not supported.",
        errSecUnsupportedKeySize: "The key size is not supported.",
        errSecInvalidKeyUsageMask: "The key usage mask is not valid.",
        errSecUnsupportedKeyUsageMask: "The key usage mask is not supported.",
        errSecInvalidKeyAttributeMask: "The key attribute mask is not valid.",
        errSecUnsupportedKeyAttributeMask: "The key attribute mask is not supported.",
        errSecInvalidKeyLabel: "The key label is not valid.",
        errSecUnsupportedKeyLabel: "The key label is not supported.",
        errSecInvalidKeyFormat: "The key format is not valid.",
        errSecUnsupportedVectorOfBuffers: "Buffer vectors are not supported.",
        errSecInvalidInputVector: "The input vector is not valid.",
        errSecInvalidOutputVector: "The output vector is not valid.",
        errSecInvalidContext: "The context is not valid.",
        errSecInvalidAlgorithm: "The algorithm is not valid.",
    ]
}
