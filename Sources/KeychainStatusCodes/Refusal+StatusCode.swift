// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension Refusal {
    /// Where a refusal becomes a status, and nowhere else.
    package var statusCode: Int32 {
        switch self {
        case .badRequest, .badKeychainName, .needsProofOfEach: -50  // errSecParam
        case .noSuchAttribute: -25303  // errSecNoSuchAttr
        case .noSuchClass: -25306  // errSecNoSuchClass
        case .dataTooLarge: -25302  // errSecDataTooLarge
        case .notImplemented: -4  // errSecUnimplemented
        case .notFound: -25300  // errSecItemNotFound
        case .duplicate: -25299  // errSecDuplicateItem
        case .notEntitled: -34018  // errSecMissingEntitlement
        case .authenticationFailed, .tooManyRequests, .wrongPassword, .forbidden: -25293
        case .cancelled: -128  // errSecUserCanceled
        case .interactionNotAllowed, .locked, .noSession: -25308  // errSecInteractionNotAllowed
        // The class key of "when a passcode is set" does not exist. Rights that need a passcode are
        // refused as an authentication that can't succeed.
        case .passcodeNotSet: -25291  // errSecNotAvailable
        case .wrongRecoveryKey, .wrongPIN, .wrongApplicationPassword: -25293  // errSecAuthFailed
        case .noSuchProtector: -25300  // errSecItemNotFound
        case .lastProtector: -50  // errSecParam
        case .protectorNotAvailable, .measurementsDiffer, .protectorChanged, .protectorFailed,
            .notOpenedHere:
            -25291  // errSecNotAvailable
        case .noSuchKeychain: -25294  // errSecNoSuchKeychain
        // Programs make a keychain where there is none.
        case .keychainGone: -25295  // errSecInvalidKeychain
        case .duplicateKeychain: -25296  // errSecDuplicateKeychain
        case .noDefaultKeychain: -25307  // errSecNoDefaultKeychain
        case .damaged: -25295  // errSecInvalidKeychain
        case .newerVersion, .belongsToAnother, .notAvailable, .damagedPolicy,
            .derivationTooCostly, .olderService, .olderProgram:
            -25291  // errSecNotAvailable
        case .readOnly: -25292  // errSecReadOnly
        case .diskFull: -34  // errSecDiskFull
        case .inputOutput: -36  // errSecIO
        case .outOfMemory: -108  // errSecAllocate
        case .internalError: -26276  // errSecInternal
        }
    }
}
