// SPDX-License-Identifier: Apache-2.0

// Statuses of a former account service.

public var errSecMobileMeRequestQueued: OSStatus { -67657 }
public var errSecMobileMeRequestRedirected: OSStatus { -67658 }
public var errSecMobileMeServerError: OSStatus { -67659 }
public var errSecMobileMeServerNotAvailable: OSStatus { -67660 }
public var errSecMobileMeServerAlreadyExists: OSStatus { -67661 }
public var errSecMobileMeServerServiceErr: OSStatus { -67662 }
public var errSecMobileMeRequestAlreadyPending: OSStatus { -67663 }
public var errSecMobileMeNoRequestPending: OSStatus { -67664 }
public var errSecMobileMeCSRVerifyFailure: OSStatus { -67665 }
public var errSecMobileMeFailedConsistencyCheck: OSStatus { -67666 }
