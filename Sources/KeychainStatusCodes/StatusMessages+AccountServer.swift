// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let accountServer: [Int32: String] = [
        -67657: "The request was queued and will be sent later.",
        -67658: "The request was redirected.",
        -67659: "The account server reported an error.",
        -67660: "The account server is not available.",
        -67661: "The item already exists on the account server.",
        -67662: "The account server reported a service error.",
        -67663: "A request to the account server is already pending.",
        -67664: "No request to the account server is pending.",
        -67665: "The account server could not verify the signing request.",
        -67666: "The account server's consistency check failed.",
    ]
}
