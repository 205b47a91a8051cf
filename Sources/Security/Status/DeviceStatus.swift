// SPDX-License-Identifier: Apache-2.0

// Statuses about devices and stored keys.

public var errSecServiceNotAvailable: OSStatus { -67585 }
public var errSecInsufficientClientID: OSStatus { -67586 }
public var errSecDeviceReset: OSStatus { -67587 }
public var errSecDeviceFailed: OSStatus { -67588 }
public var errSecAppleAddAppACLSubject: OSStatus { -67589 }
public var errSecApplePublicKeyIncomplete: OSStatus { -67590 }
public var errSecAppleSignatureMismatch: OSStatus { -67591 }
public var errSecAppleInvalidKeyStartDate: OSStatus { -67592 }
public var errSecAppleInvalidKeyEndDate: OSStatus { -67593 }
public var errSecConversionError: OSStatus { -67594 }
public var errSecAppleSSLv2Rollback: OSStatus { -67595 }
public var errSecQuotaExceeded: OSStatus { -67596 }
public var errSecFileTooBig: OSStatus { -67597 }
public var errSecInvalidDatabaseBlob: OSStatus { -67598 }
public var errSecInvalidKeyBlob: OSStatus { -67599 }
public var errSecIncompatibleDatabaseBlob: OSStatus { -67600 }
public var errSecIncompatibleKeyBlob: OSStatus { -67601 }
