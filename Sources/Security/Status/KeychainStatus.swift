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
