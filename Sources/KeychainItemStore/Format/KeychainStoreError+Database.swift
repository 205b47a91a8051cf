// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainRows
internal import KeychainSecrets

extension KeychainStoreError {
    /// SQLite's messages are dropped, as they may quote a statement.
    init(_ error: any Error) {
        switch error {
        case let error as KeychainStoreError: self = error
        case let error as DatabaseError: self.init(error)
        case ForeignFileError.damaged: self = .damaged
        case ForeignFileError.newerVersion: self = .newerVersion
        case SecretsError.outOfMemory, SecretsError.libraryUnavailable: self = .outOfMemory
        case is SecretsError: self = .damaged
        default: self = .inputOutput(0)
        }
    }

    /// Whether the file can't be read as a whole: it is damaged, or the disk is where it lies.
    package var isOfUnreadableFile: Bool {
        switch self {
        case .damaged: true
        case .inputOutput(let code): DatabaseError(code: code).isOfReading
        default: false
        }
    }

    private init(_ error: DatabaseError) {
        self =
            switch error.kind {
            case .damaged: .damaged
            case .full: .diskFull
            case .readOnly: .readOnly
            case .busy: .busy
            case .outOfMemory: .outOfMemory
            case .inputOutput: .inputOutput(error.code)
            }
    }
}
