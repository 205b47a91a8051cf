// SPDX-License-Identifier: Apache-2.0

extension StatusMessages {
    static let trust: [Int32: String] = [
        -25240: "The access control list is not a simple list of applications.",
        -25241: "The policy could not be found.",
        -25242: "The trust setting is not valid.",
        -25243: "The item has no access control.",
        -25244: "The owner of this item cannot be changed.",
        -25245: "No trust result is available.",
        -25256: "The import or export format is not supported.",
        -25257: "The format of the item to import is unknown.",
        -25258: "This key can only be exported in wrapped form.",
        -25259: "Only one private key can be imported at a time.",
        -25260: "A password is required to import or export this item.",
        -25261: "The password reference is not valid.",
        -25262: "The trust settings are damaged.",
        -25263: "No trust settings were found.",
        -25264: "MAC verification failed during PKCS12 import (wrong password?)",
        -26267: "The certificate was not signed by its proposed issuer.",
        -26275: "Unable to decode the provided data.",
        -26276: "An internal error occurred in the keychain.",
    ]
}
