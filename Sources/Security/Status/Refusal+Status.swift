// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension Refusal {
    /// Where a refusal becomes a status, and nowhere else.
    package var status: OSStatus {
        switch self {
        case .badRequest, .badKeychainName, .needsProofOfEach: errSecParam
        case .noSuchAttribute: errSecNoSuchAttr
        case .noSuchClass: errSecNoSuchClass
        case .dataTooLarge: errSecDataTooLarge
        case .notImplemented: errSecUnimplemented
        case .notFound: errSecItemNotFound
        case .duplicate: errSecDuplicateItem
        case .notEntitled: errSecMissingEntitlement
        case .authenticationFailed, .tooManyRequests, .wrongPassword, .forbidden: errSecAuthFailed
        case .cancelled: errSecUserCanceled
        case .interactionNotAllowed, .locked, .noSession: errSecInteractionNotAllowed
        // The class key of "when a passcode is set" does not exist. Rights that need a passcode are
        // refused as an authentication that can't succeed.
        case .passcodeNotSet: errSecNotAvailable
        case .wrongRecoveryKey, .wrongPIN, .wrongApplicationPassword: errSecAuthFailed
        case .noSuchProtector: errSecItemNotFound
        case .lastProtector: errSecParam
        case .protectorNotAvailable, .measurementsDiffer, .protectorChanged, .protectorFailed,
            .notOpenedHere:
            errSecNotAvailable
        case .noSuchKeychain: errSecNoSuchKeychain
        // Programs make a keychain where there is none.
        case .keychainGone: errSecInvalidKeychain
        case .duplicateKeychain: errSecDuplicateKeychain
        case .noDefaultKeychain: errSecNoDefaultKeychain
        case .damaged: errSecInvalidKeychain
        case .newerVersion, .belongsToAnother, .notAvailable, .damagedPolicy,
            .derivationTooCostly, .olderService, .olderProgram:
            errSecNotAvailable
        case .readOnly: errSecReadOnly
        case .diskFull: errSecDiskFull
        case .inputOutput: errSecIO
        case .outOfMemory: errSecAllocate
        case .internalError: errSecInternal
        }
    }
}
