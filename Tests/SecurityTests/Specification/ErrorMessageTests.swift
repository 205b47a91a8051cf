// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import KeychainStatusCodes
import Testing

@testable import Security

@Suite struct ErrorMessages {
    @Test(
        arguments: [
            (errSecSuccess, "No error."),
            (errSecItemNotFound, "The specified item could not be found in the keychain."),
            (errSecDuplicateItem, "The specified item already exists in the keychain."),
            (errSecAuthFailed, "The user name or passphrase you entered is not correct."),
            (errSecInteractionNotAllowed, "User interaction is not allowed."),
            (errSecParam, "One or more parameters passed to a function were not valid."),
            (errSecMissingEntitlement, "A required entitlement isn't present."),
            (errSecUserCanceled, "User canceled the operation."),
            (errSecDecode, "Unable to decode the provided data."),
            (-67_904, "A required qualified certificate statement is missing."),
            (12345, "OSStatus 12345"), (.min, "OSStatus -2147483648"),
        ] as [(OSStatus, String)])
    func `a status has a sentence`(_ status: OSStatus, _ text: String) {
        #expect(SecCopyErrorMessageString(status, nil) as String? == text)
    }

    @Test func `every refusal is a status that has a sentence`() {
        for refusal in RequestError.allCases {
            let text = StatusMessages.text(for: refusal.status)
            #expect(refusal.status != errSecSuccess, "\(refusal)")
            #expect(!text.hasPrefix("OSStatus"), "\(refusal)")
        }
    }

    @Test(
        arguments: [
            (.state(.notFound), -25300), (.state(.duplicate), -25299), (.invalid(.badRequest), -50),
            (.invalid(.needsProofOfEach), -50),
            (.invalid(.noSuchAttribute), -25303), (.invalid(.noSuchClass), -25306),
            (.invalid(.dataTooLarge), -25302),
            (.invalid(.notImplemented), -4), (.refused(.notEntitled), -34018),
            (.refused(.authenticationFailed), -25293),
            (.refused(.cancelled), -128), (.refused(.interactionNotAllowed), -25308),
            (.state(.locked), -25308),
            (.refused(.tooManyRequests), -25293), (.state(.passcodeNotSet), -25291),
            (.refused(.wrongPassword), -25293),
            (.state(.noSession), -25308), (.state(.noSuchKeychain), -25294),
            (.state(.duplicateKeychain), -25296),
            (.invalid(.badKeychainName), -50), (.failed(.damaged), -25295),
            (.state(.noDefaultKeychain), -25307),
            (.state(.newerVersion), -25291),
            (.failed(.notAvailable), -25291), (.refused(.belongsToAnother), -25291),
            (.state(.readOnly), -25292),
            (.failed(.diskFull), -34), (.failed(.inputOutput), -36), (.failed(.outOfMemory), -108),
            (.failed(.internalError), -26276),
        ] as [(RequestError, OSStatus)])
    func `an error is a status`(_ error: RequestError, _ status: OSStatus) {
        #expect(error.status == status)
    }
}
