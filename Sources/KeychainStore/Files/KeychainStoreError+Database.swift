// SPDX-License-Identifier: Apache-2.0
internal import GRDB
internal import Secrets

extension KeychainStoreError {
    /// SQLite's own words are left behind: they may quote a statement.
    init(_ error: any Error) {
        switch error {
        case let error as KeychainStoreError: self = error
        case let error as DatabaseError: self.init(error)
        // A column that is not of the type that this version writes.
        case is RowDecodingError: self = .damaged
        case SecretsError.outOfMemory, SecretsError.libraryUnavailable: self = .outOfMemory
        case is SecretsError: self = .damaged
        default: self = .inputOutput(0)
        }
    }

    private init(_ error: DatabaseError) {
        self =
            switch error.resultCode {
            // A missing table or column, or a value longer than any of ours: not what this version
            // writes. The last two are what a damaged row, index or schema shows as.
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_MISMATCH,
                .SQLITE_FORMAT, .SQLITE_TOOBIG, .SQLITE_CONSTRAINT:
                .damaged
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY, .SQLITE_PERM: .readOnly
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: .busy
            case .SQLITE_NOMEM: .outOfMemory
            default: .inputOutput(error.extendedResultCode.rawValue)
            }
    }
}
