// SPDX-License-Identifier: Apache-2.0
internal import GRDB
internal import GRDBSQLite

extension Database {
    /// SQLite reads no value that is longer than any of ours, whoever wrote it: neither a name in the
    /// keybag nor a statement in the schema, which it has to read whole to measure them.
    func refuseLongValues() {
        guard let connection = unsafe sqliteConnection else { return }
        // Safe: the connection is open while it is being prepared; a limit is a number.
        _ = unsafe sqlite3_limit(
            connection, SQLITE_LIMIT_LENGTH, Int32(clamping: KeychainSchema.largestRecord))
    }
}
