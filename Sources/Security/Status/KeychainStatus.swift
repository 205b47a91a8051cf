// SPDX-License-Identifier: Apache-2.0

// Statuses about keychains and their items.

public var errSecNotAvailable: OSStatus { -25291 }
public var errSecReadOnly: OSStatus { -25292 }
public var errSecAuthFailed: OSStatus { -25293 }
public var errSecNoSuchKeychain: OSStatus { -25294 }
public var errSecInvalidKeychain: OSStatus { -25295 }
public var errSecDuplicateKeychain: OSStatus { -25296 }
public var errSecDuplicateCallback: OSStatus { -25297 }
public var errSecInvalidCallback: OSStatus { -25298 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecBufferTooSmall: OSStatus { -25301 }
public var errSecDataTooLarge: OSStatus { -25302 }
public var errSecNoSuchAttr: OSStatus { -25303 }
public var errSecInvalidItemRef: OSStatus { -25304 }
public var errSecInvalidSearchRef: OSStatus { -25305 }
public var errSecNoSuchClass: OSStatus { -25306 }
public var errSecNoDefaultKeychain: OSStatus { -25307 }
public var errSecInteractionNotAllowed: OSStatus { -25308 }
public var errSecReadOnlyAttr: OSStatus { -25309 }
public var errSecWrongSecVersion: OSStatus { -25310 }
public var errSecKeySizeNotAllowed: OSStatus { -25311 }
public var errSecNoStorageModule: OSStatus { -25312 }
public var errSecNoCertificateModule: OSStatus { -25313 }
public var errSecNoPolicyModule: OSStatus { -25314 }
public var errSecInteractionRequired: OSStatus { -25315 }
public var errSecDataNotAvailable: OSStatus { -25316 }
public var errSecDataNotModifiable: OSStatus { -25317 }
public var errSecCreateChainFailed: OSStatus { -25318 }
public var errSecInvalidPrefsDomain: OSStatus { -25319 }
public var errSecInDarkWake: OSStatus { -25320 }

extension StatusMessages {
    static let keychain: [OSStatus: String] = [
        errSecNotAvailable: "No keychain is available.",
        errSecReadOnly: "This keychain cannot be modified.",
        errSecAuthFailed: "The user name or passphrase you entered is not correct.",
        errSecNoSuchKeychain: "The specified keychain could not be found.",
        errSecInvalidKeychain: "The specified keychain is not a valid keychain file.",
        errSecDuplicateKeychain: "A keychain with the same name already exists.",
        errSecDuplicateCallback: "The specified callback function is already installed.",
        errSecInvalidCallback: "The specified callback function is not valid.",
        errSecDuplicateItem: "The specified item already exists in the keychain.",
        errSecItemNotFound: "The specified item could not be found in the keychain.",
        errSecBufferTooSmall: "There is not enough memory available to use the specified item.",
        errSecDataTooLarge:
            "The item's data is too large.",
        errSecNoSuchAttr: "The specified attribute does not exist.",
        errSecInvalidItemRef:
            "The specified item is no longer valid.",
        errSecInvalidSearchRef: "Unable to search the current keychain.",
        errSecNoSuchClass: "The specified item does not appear to be a valid keychain item.",
        errSecNoDefaultKeychain: "A default keychain could not be found.",
        errSecInteractionNotAllowed: "User interaction is not allowed.",
        errSecReadOnlyAttr: "The specified attribute could not be modified.",
        errSecWrongSecVersion:
            "This keychain was created by an incompatible version.",
        errSecKeySizeNotAllowed: "The key size is too large or too small.",
        errSecNoStorageModule: "The keychain storage module could not be loaded.",
        errSecNoCertificateModule: "The certificate module could not be loaded.",
        errSecNoPolicyModule: "The policy module could not be loaded.",
        errSecInteractionRequired: "User interaction is required, but is currently not allowed.",
        errSecDataNotAvailable: "The contents of this item cannot be retrieved.",
        errSecDataNotModifiable: "The contents of this item cannot be modified.",
        errSecCreateChainFailed: "A certificate needed to validate this one could not be found.",
        errSecInvalidPrefsDomain: "The preferences domain is not valid.",
        errSecInDarkWake: "User interaction is not possible while the display is off.",
    ]
}
