// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let device: [Int32: String] = [
        -67585: "A required service is not available.",
        -67586: "The client ID is not sufficient.",
        -67587: "The device was reset.",
        -67588: "A device failure occurred.",
        -67589:
            "The application could not be added to the access control list.",
        -67590: "The public key is incomplete.",
        -67591: "The signature does not match.",
        -67592: "The key's start date is not valid.",
        -67593: "The key's end date is not valid.",
        -67594: "A value could not be converted.",
        -67595: "A rollback to SSL version 2 was detected.",
        -67596: "The quota was exceeded.",
        -67597: "The file is too large.",
        -67598: "A database record is not valid.",
        -67599: "The stored key is not valid.",
        -67600: "A database record is of an incompatible version.",
        -67601: "The stored key is of an incompatible version.",
    ]
}
