// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

/// Remembers which process got the last answer from the keychain, so that the same process, when it
/// asks the same again, is not given the same wrong password for ever.
///
/// It is a digest in a file of the user's runtime folder. Without such a folder nothing is remembered,
/// and the tool gives up after its own number of tries.
struct RecentAnswer {
    private static let longest = 256

    private let path: String
    private let mark: HeldSecret

    /// nil where nothing can be remembered.
    init?(to prompt: String) {
        guard let folder = ProcessEnvironment["XDG_RUNTIME_DIR"], folder.hasPrefix("/"),
            let start = PinnedProcess(pid: getppid(), pidfd: nil)?.startTime
        else { return nil }
        var digest = SHA256()
        digest.update(Array("\(getppid()) \(start) \(prompt)".utf8))
        path = folder + "/keychain-askpass"
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
