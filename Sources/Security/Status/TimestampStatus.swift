// SPDX-License-Identifier: Apache-2.0

// Statuses about timestamps, and the last ones about certificates.

public var errSecExtendedKeyUsageNotCritical: OSStatus { -67881 }
public var errSecTimestampMissing: OSStatus { -67882 }
public var errSecTimestampInvalid: OSStatus { -67883 }
public var errSecTimestampNotTrusted: OSStatus { -67884 }
public var errSecTimestampServiceNotAvailable: OSStatus { -67885 }
public var errSecTimestampBadAlg: OSStatus { -67886 }
public var errSecTimestampBadRequest: OSStatus { -67887 }
public var errSecTimestampBadDataFormat: OSStatus { -67888 }
public var errSecTimestampTimeNotAvailable: OSStatus { -67889 }
public var errSecTimestampUnacceptedPolicy: OSStatus { -67890 }
public var errSecTimestampUnacceptedExtension: OSStatus { -67891 }
public var errSecTimestampAddInfoNotAvailable: OSStatus { -67892 }
public var errSecTimestampSystemFailure: OSStatus { -67893 }
public var errSecSigningTimeMissing: OSStatus { -67894 }
public var errSecTimestampRejection: OSStatus { -67895 }
public var errSecTimestampWaiting: OSStatus { -67896 }
public var errSecTimestampRevocationWarning: OSStatus { -67897 }
public var errSecTimestampRevocationNotification: OSStatus { -67898 }
public var errSecCertificatePolicyNotAllowed: OSStatus { -67899 }
public var errSecCertificateNameNotAllowed: OSStatus { -67900 }
public var errSecCertificateValidityPeriodTooLong: OSStatus { -67901 }
public var errSecCertificateIsCA: OSStatus { -67902 }
public var errSecCertificateDuplicateExtension: OSStatus { -67903 }
public var errSecMissingQualifiedCertStatement: OSStatus { -67904 }
