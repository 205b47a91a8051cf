// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainRows

/// Checks a keychain's file before SQLite opens it.
///
/// The check uses the file's name: opening and closing the file here would drop SQLite's locks on
/// it.
enum FileCheck {
    static func check(_ path: String) throws(KeychainStoreError) {
        let status: FileStatus
        do { status = try FileStatus(of: path) } catch {
            throw error == .system(PrivateFile.notFound) ? .noSuchFile : .inputOutput(0)
        }
        guard status.kind == .file else { throw .damaged }
        // SQLite would fill up a last page that is not whole with bytes that were never written,
        // unless the log of a crash still holds that page.
        let isWhole = status.size > 0 && status.size % KeychainTables.pageBytes == 0
        guard isWhole || FileStatus(path + "-wal") != nil else { throw .damaged }
    }
}
