// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainItemStore
package import KeychainLinuxSystem

extension RequestError {
    package init(_ error: KeychainStoreError) {
        self =
            switch error {
            case .tooLarge: .invalid(.dataTooLarge)
            case .badChange: .invalid(.noSuchAttribute)
            case .belongsToAnother: .refused(.belongsToAnother)
            case .wrongPassword: .refused(.wrongPassword)
            case .wrongApplicationPassword: .refused(.wrongApplicationPassword)
            case .notGranted, .grantMismatch, .needsApplicationPassword:
                .refused(.authenticationFailed)
            case .notFound, .corruptItem: .state(.notFound)
            case .duplicate: .state(.duplicate)
            case .locked: .state(.locked)
            case .notProtected: .state(.passcodeNotSet)
            case .noSuchFile: .state(.noSuchKeychain)
            case .alreadyExists: .state(.duplicateKeychain)
            case .newerVersion: .state(.newerVersion)
            case .readOnly: .state(.readOnly)
            case .lastProtector: .state(.lastProtector)
            case .wrongProtectorKey: .state(.protectorChanged)
            case .damaged, .wrongDeviceKey: .failed(.damaged)
            case .derivationTooCostly: .failed(.derivationTooCostly)
            case .diskFull: .failed(.diskFull)
            case .inputOutput: .failed(.inputOutput)
            case .busy: .failed(.notAvailable)
            case .outOfMemory, .noRoom: .failed(.outOfMemory)
            }
    }

    /// For the files beside a keychain: its folder, the device's key.
    package init(_ error: SystemError) {
        self =
            switch error {
            case .system(let code) where code == PrivateFile.noSpace: .failed(.diskFull)
            case .system(let code) where code == PrivateFile.readOnly: .state(.readOnly)
            case .system: .failed(.inputOutput)
            case .notPrivate: .refused(.belongsToAnother)
            case .malformed, .tooLarge: .failed(.damaged)
            case .timedOut: .failed(.notAvailable)
            }
    }
}
