// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension RequestError {
    /// The only place where an error becomes a status.
    package var statusCode: Int32 {
        switch self {
        case .invalid(let what): what.statusCode
        case .refused(let why): why.statusCode
        case .state(let state): state.statusCode
        case .failed(let failure): failure.statusCode
        }
    }
}

extension InvalidRequest {
    fileprivate var statusCode: Int32 {
        switch self {
        case .badRequest, .badKeychainName, .needsProofOfEach: -50  // errSecParam
        case .noSuchAttribute: -25303  // errSecNoSuchAttr
        case .noSuchClass: -25306  // errSecNoSuchClass
        case .dataTooLarge: -25302  // errSecDataTooLarge
        case .notImplemented: -4  // errSecUnimplemented
        }
    }
}

extension Refusal {
    fileprivate var statusCode: Int32 {
        switch self {
        case .notEntitled: -34018  // errSecMissingEntitlement
        case .cancelled: -128  // errSecUserCanceled
        case .interactionNotAllowed: -25308  // errSecInteractionNotAllowed
        case .authenticationFailed, .tooManyRequests, .wrongPassword, .forbidden,
            .wrongRecoveryKey, .wrongPIN, .wrongApplicationPassword:
            -25293  // errSecAuthFailed
        case .belongsToAnother: -25291  // errSecNotAvailable
        }
    }
}

extension KeychainState {
    fileprivate var statusCode: Int32 {
        switch self {
        case .notFound, .noSuchProtector: -25300  // errSecItemNotFound
        case .duplicate: -25299  // errSecDuplicateItem
        case .locked, .noSession: -25308  // errSecInteractionNotAllowed
        // The class key of "when a passcode is set" does not exist. Rights that need a passcode are
        // refused as an authentication that can't succeed.
        case .passcodeNotSet: -25291  // errSecNotAvailable
        case .noSuchKeychain: -25294  // errSecNoSuchKeychain
        case .duplicateKeychain: -25296  // errSecDuplicateKeychain
        case .noDefaultKeychain: -25307  // errSecNoDefaultKeychain
        case .readOnly: -25292  // errSecReadOnly
        case .lastProtector: -50  // errSecParam
        case .newerVersion, .protectorNotAvailable, .measurementsDiffer, .protectorChanged,
            .notOpenedHere, .olderService, .olderProgram, .noSuchPeer:
            -25291  // errSecNotAvailable
        }
    }
}

extension ServiceFailure {
    fileprivate var statusCode: Int32 {
        switch self {
        // Programs create a missing keychain, so a keychain that was lost must not look missing.
        case .damaged, .keychainGone: -25295  // errSecInvalidKeychain
        case .diskFull: -34  // errSecDiskFull
        case .inputOutput: -36  // errSecIO
        case .outOfMemory: -108  // errSecAllocate
        case .internalError: -26276  // errSecInternal
        case .damagedPolicy, .protectorFailed, .notAvailable, .derivationTooCostly,
            .noAuthentication:
            -25291  // errSecNotAvailable
        }
    }
}
