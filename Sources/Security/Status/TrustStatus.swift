// SPDX-License-Identifier: Apache-2.0

// Statuses about access, trust, import and export.

public var errSecACLNotSimple: OSStatus { -25240 }
public var errSecPolicyNotFound: OSStatus { -25241 }
public var errSecInvalidTrustSetting: OSStatus { -25242 }
public var errSecNoAccessForItem: OSStatus { -25243 }
public var errSecInvalidOwnerEdit: OSStatus { -25244 }
public var errSecTrustNotAvailable: OSStatus { -25245 }
public var errSecUnsupportedFormat: OSStatus { -25256 }
public var errSecUnknownFormat: OSStatus { -25257 }
public var errSecKeyIsSensitive: OSStatus { -25258 }
public var errSecMultiplePrivKeys: OSStatus { -25259 }
public var errSecPassphraseRequired: OSStatus { -25260 }
public var errSecInvalidPasswordRef: OSStatus { -25261 }
public var errSecInvalidTrustSettings: OSStatus { -25262 }
public var errSecNoTrustSettings: OSStatus { -25263 }
public var errSecPkcs12VerifyFailure: OSStatus { -25264 }
public var errSecNotSigner: OSStatus { -26267 }
public var errSecDecode: OSStatus { -26275 }
public var errSecInternal: OSStatus { -26276 }
