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
        errSecMobileMeRequestQueued: "The request will be sent later.",
        errSecMobileMeRequestRedirected: "The request was redirected.",
        errSecMobileMeServerError: "The account server failed.",
        errSecMobileMeServerNotAvailable: "The account server is not available.",
        errSecMobileMeServerAlreadyExists: "The account server says that the item exists already.",
        errSecMobileMeServerServiceErr: "The account server reports an error of its service.",
        errSecMobileMeRequestAlreadyPending:
            "A request to the account server is under way already.",
        errSecMobileMeNoRequestPending: "No request to the account server is under way.",
        errSecMobileMeCSRVerifyFailure: "The account server could not verify the signing request.",
        errSecMobileMeFailedConsistencyCheck: "The account server found a contradiction.",
    ]
}
