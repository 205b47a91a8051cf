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

extension StatusMessages {
    static let accountServer: [OSStatus: String] = [
        errSecMobileMeRequestQueued: "The request was queued and will be sent later.",
        errSecMobileMeRequestRedirected: "The request was redirected.",
        errSecMobileMeServerError: "The account server reported an error.",
        errSecMobileMeServerNotAvailable: "The account server is not available.",
        errSecMobileMeServerAlreadyExists: "The item already exists on the account server.",
        errSecMobileMeServerServiceErr: "The account server reported a service error.",
        errSecMobileMeRequestAlreadyPending: "A request to the account server is already pending.",
        errSecMobileMeNoRequestPending: "No request to the account server is pending.",
        errSecMobileMeCSRVerifyFailure: "The account server could not verify the signing request.",
        errSecMobileMeFailedConsistencyCheck: "The account server's consistency check failed.",
    ]
}
