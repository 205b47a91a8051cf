// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let common: [Int32: String] = [
        0: "No error.",
        -4: "Function or operation not implemented.",
        -34: "The disk is full.",
        -36: "I/O error.",
        -49: "The file is already open with write permission.",
        -50: "One or more parameters passed to a function were not valid.",
        -61: "Write permissions error.",
        -108: "Failed to allocate memory.",
        -128: "User canceled the operation.",
        -909: "Bad parameter or invalid state for operation.",
        -2070: "An internal component failed.",
        -4960: "An unknown Core Foundation error occurred.",
        -34018: "A required entitlement isn't present.",
        -34020: "Client is restricted and is not permitted to perform this operation.",
    ]
}
