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
        for refusal in Refusal.allCases {
            let text = StatusMessages.text(for: refusal.status)
            #expect(refusal.status != errSecSuccess, "\(refusal)")
            #expect(!text.hasPrefix("OSStatus"), "\(refusal)")
        }
    }

    @Test(
        arguments: [
            (.notFound, -25300), (.duplicate, -25299), (.badRequest, -50),
            (.needsProofOfEach, -50),
            (.noSuchAttribute, -25303), (.noSuchClass, -25306), (.dataTooLarge, -25302),
            (.notImplemented, -4), (.notEntitled, -34018), (.authenticationFailed, -25293),
            (.cancelled, -128), (.interactionNotAllowed, -25308), (.locked, -25308),
            (.tooManyRequests, -25293), (.passcodeNotSet, -25291), (.wrongPassword, -25293),
            (.noSession, -25308), (.noSuchKeychain, -25294), (.duplicateKeychain, -25296),
            (.badKeychainName, -50), (.damaged, -25295), (.noDefaultKeychain, -25307),
            (.newerVersion, -25291),
            (.notAvailable, -25291), (.belongsToAnother, -25291), (.readOnly, -25292),
            (.diskFull, -34), (.inputOutput, -36), (.outOfMemory, -108),
            (.internalError, -26276),
        ] as [(Refusal, OSStatus)])
    func `a refusal is a status`(_ refusal: Refusal, _ status: OSStatus) {
        #expect(refusal.status == status)
    }
}
