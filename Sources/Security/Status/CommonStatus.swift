// SPDX-License-Identifier: Apache-2.0

// Statuses that any call may give.

public var errSecSuccess: OSStatus { 0 }
public var errSecUnimplemented: OSStatus { -4 }
public var errSecDiskFull: OSStatus { -34 }
public var errSecIO: OSStatus { -36 }
public var errSecOpWr: OSStatus { -49 }
public var errSecParam: OSStatus { -50 }
public var errSecWrPerm: OSStatus { -61 }
public var errSecAllocate: OSStatus { -108 }
public var errSecUserCanceled: OSStatus { -128 }
public var errSecBadReq: OSStatus { -909 }
public var errSecInternalComponent: OSStatus { -2070 }
public var errSecCoreFoundationUnknown: OSStatus { -4960 }
public var errSecMissingEntitlement: OSStatus { -34018 }
public var errSecRestrictedAPI: OSStatus { -34020 }
