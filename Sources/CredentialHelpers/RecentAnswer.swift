// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

/// Remembers which process got which answer from the keychain, so that the same process does not
/// get the same wrong password again and again when it repeats its prompt.
///
/// The memory is a digest in a file of the user's runtime folder. Concurrent processes have files
/// of their own; there are at most `files` of them, and a later process reuses an earlier one's.
/// Without such a folder nothing is remembered, and the tool gives up after its own number of
/// tries.
struct RecentAnswer {
    private static let longest = 256
    private static let files: Int32 = 256

    private let path: String
    private let mark: HeldSecret

    /// nil where nothing can be remembered.
    init?(to prompt: String) {
        guard let folder = ProcessEnvironment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
            let start = PinnedProcess(pid: getppid(), pidfd: nil)?.startTime
        else { return nil }
        self.init(to: prompt, process: getppid(), startedAt: start, in: folder)
    }

    init(to prompt: String, process: Int32, startedAt start: UInt64, in folder: String) {
        var digest = SHA256()
        digest.update(Array("\(process) \(start) \(prompt)".utf8))
        path = "\(folder)/keychain-askpass.\(process % Self.files)"
        mark = HeldSecret(text: digest.digest().hexadecimal)
    }

    var wasGiven: Bool {
        guard let last = try? PrivateFile.read(path, limit: Self.longest) else { return false }
        return last.matches(mark.bytes)
    }

    func note() {
        PrivateFile.remove(path)
        try? PrivateFile.create(path, contents: mark.bytes)
    }
}
