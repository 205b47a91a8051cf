// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let keychain: [Int32: String] = [
        -25291: "No keychain is available. You may need to restart your computer.",
        -25292: "This keychain cannot be modified.",
        -25293: "The user name or passphrase you entered is not correct.",
        -25294: "The specified keychain could not be found.",
        -25295: "The specified keychain is not a valid keychain file.",
        -25296: "A keychain with the same name already exists.",
        -25297: "The specified callback function is already installed.",
        -25298: "The specified callback function is not valid.",
        -25299: "The specified item already exists in the keychain.",
        -25300: "The specified item could not be found in the keychain.",
        -25301: "There is not enough memory available to use the specified item.",
        -25302:
            "The item's data is too large.",
        -25303: "The specified attribute does not exist.",
        -25304:
            "The specified item is no longer valid.",
        -25305: "Unable to search the current keychain.",
        -25306: "The specified item does not appear to be a valid keychain item.",
        -25307: "A default keychain could not be found.",
        -25308: "User interaction is not allowed.",
        -25309: "The specified attribute could not be modified.",
        -25310:
            "This keychain was created by an incompatible version.",
        -25311: "The key size is too large or too small.",
        -25312: "The keychain storage module could not be loaded.",
        -25313: "The certificate module could not be loaded.",
        -25314: "The policy module could not be loaded.",
        -25315: "User interaction is required, but is currently not allowed.",
        -25316: "The contents of this item cannot be retrieved.",
        -25317: "The contents of this item cannot be modified.",
        -25318: "A certificate needed to validate this one could not be found.",
        -25319: "The preferences domain is not valid.",
        -25320: "User interaction is not possible while the display is off.",
    ]
}
