// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Terminal

/// A file that says what an import did, in the user's own state folder; no secret is in it.
struct ImportReceipt {
    let path: String
    private let file: GrowingFile

    /// Where there is one of that number already, `PrivateFile.exists`. Any other error: this user has
    /// no home, or can't write there, and the import must not begin.
    init(number: Int64, in folder: String? = usualFolder) throws(SystemError) {
        guard let folder else { throw .system(PrivateFile.notFound) }
        try PrivateFile.folder(folder, mode: 0o700)
        path = "\(folder)/\(number).txt"
        file = try GrowingFile(new: path)
    }

    func write(_ line: String) {
        // The items bear the number: without the line they can be taken back all the same.
        try? file.append(Array((PlainText.line(line) + "\n").utf8))
    }

    static var usualFolder: String? {
        if let state = ProcessEnvironment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return state + "/keychain/imports"
        }
        guard let home = ProcessEnvironment["HOME"] ?? UserAccount.own?.home, home.hasPrefix("/")
        else { return nil }
        return home + "/.local/state/keychain/imports"
    }
}
