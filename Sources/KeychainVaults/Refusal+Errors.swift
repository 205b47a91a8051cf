// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainItemStore
package import KeychainLinuxSystem

extension Refusal {
    package init(_ error: KeychainStoreError) {
        switch error {
        case .damaged, .wrongDeviceKey: self = .damaged
        case .newerVersion: self = .newerVersion
        case .alreadyExists: self = .duplicateKeychain
        case .noSuchFile: self = .noSuchKeychain
        case .readOnly: self = .readOnly
        case .diskFull: self = .diskFull
        case .inputOutput: self = .inputOutput
        case .busy: self = .notAvailable
        case .outOfMemory: self = .outOfMemory
        case .noRoom: self = .tooManyRequests
        case .belongsToAnother: self = .belongsToAnother
        case .wrongPassword: self = .wrongPassword
        case .notProtected: self = .passcodeNotSet
        case .wrongProtectorKey: self = .protectorChanged
        case .lastProtector: self = .lastProtector
        case .derivationTooCostly: self = .derivationTooCostly
        case .locked: self = .locked
        case .notFound, .corruptItem: self = .notFound
        case .duplicate: self = .duplicate
        case .tooLarge: self = .dataTooLarge
        case .badChange: self = .noSuchAttribute
        case .notGranted, .grantMismatch, .needsApplicationPassword: self = .authenticationFailed
        case .wrongApplicationPassword: self = .wrongApplicationPassword
        }
    }

    /// Of the files beside a keychain: its folder, the device's key.
    package init(_ error: SystemError) {
        switch error {
        case .system(let code) where code == PrivateFile.noSpace: self = .diskFull
        case .system(let code) where code == PrivateFile.readOnly: self = .readOnly
        case .system: self = .inputOutput
        case .notPrivate: self = .belongsToAnother
        case .malformed, .tooLarge: self = .damaged
        case .timedOut: self = .notAvailable
        }
    }
}
