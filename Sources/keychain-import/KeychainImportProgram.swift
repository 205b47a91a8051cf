// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainRows

/// `keychain-import`: reads a keychain's file from elsewhere, on its standard input, and writes the
/// rows that are in it to its standard output. SQLite, which the file may deceive, runs in this
/// process and not in the one that has keys; what it may do besides is nothing.
@main
struct KeychainImportProgram {
    static func main() {
        guard let seconds = CommandLine.arguments.dropFirst().first.flatMap({ UInt32($0) }) else {
            return
        }
        // Which end with the process: closing them would be a call too many.
        let (file, rows) = (Descriptor(owning: 0) { _ in }, Descriptor(owning: 1) { _ in })
        KeychainTables.prepare()
        do {
            try Confinement.enter(as: "_keychain-import", seconds: seconds)
            try RowWriter(to: rows).write(file)
        } catch {
            // The other end takes the missing end of the rows for a failure.
        }
    }
}
