// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc
internal import KeychainLinuxSystem
internal import ProgramHandoff

/// The files in which keychaind keeps everybody's keychains; for root, who alone may look.
struct FileExam {
    private static let state = "/var/lib/keychain"
    private static let mostFiles = 10_000
    /// The files of the policies in force, and those that take their place: the compiler reads them
    /// under an account of its own.
    private static let readable = "policy.sources"
    private let repair: Bool

    init(repair: Bool) { self.repair = repair }

    var findings: [Finding] {
        guard geteuid() == 0 else {
            return [Finding(.files, .note, "only root can look at the files of keychaind")]
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: Self.state) else {
            return [
                Finding(
                    .files, .trouble, "\(Self.state) is missing",
                    remedy: "systemd-tmpfiles --create makes it.")
            ]
        }
        var found = examine(Self.state, closedTo: 0o066)
        for name in names.sorted().prefix(Self.mostFiles) {
            let path = Self.state + "/" + name
            // A user's folder belongs to the number of the user's worker, or to root until it has one.
            let owner = UInt32(name) == nil ? 0 : FileStatus(path).map(Self.owner) ?? 0
            found += examine(
                path, of: owner, closedTo: name.hasPrefix(Self.readable) ? 0o022 : 0o077)
            guard UInt32(name) != nil else { continue }
            let inner = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            for file in inner.sorted().prefix(Self.mostFiles) {
                found += examine(path + "/" + file, of: owner, closedTo: 0o077)
            }
        }
        guard found.isEmpty else { return found }
        return [
            Finding(.files, .fine, "everything in \(Self.state) is root's, or one worker's, alone")
        ]
    }

    private static func owner(_ status: FileStatus) -> UInt32 {
        AdoptedNumbers.range.contains(status.owner) ? status.owner : 0
    }

    /// Links are not followed; what is no file or folder has no business there.
    private func examine(
        _ path: String, of owner: UInt32 = 0, closedTo mask: UInt32
    ) -> [Finding] {
        guard let status = FileStatus(path) else { return [] }
        guard status.kind != .other else {
            return [
                Finding(
                    .files, .trouble, "\(path) is neither a file nor a folder",
                    remedy: "Nothing of keychaind's is: look where it comes from, and remove it.")
            ]
        }
        // keychaind gives root's files of a user to the user's worker when that starts.
        guard status.owner == owner || status.owner == 0 else {
            return [
                Finding(
                    .files, .trouble, "\(path) belongs to user number \(status.owner)",
                    remedy: "Find out why; then chown root, or restore it from a backup.")
            ]
        }
        guard status.mode & mask != 0 else { return [] }
        let closed = status.mode & ~mask
        let octal = "0" + String(closed, radix: 8)
        let isMended = repair && FileStatus.setMode(closed, of: path)
        return [
            isMended
                ? Finding(.files, .mended, "\(path) was open to others; is closed now")
                : Finding(
                    .files, .trouble, "\(path) is open to others",
                    remedy: "chmod \(octal) \(path), or keychainctl doctor --repair.")
        ]
    }
}
