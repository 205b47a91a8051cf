// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// Facts about a process that did not connect itself, but was named by a descriptor.
extension PinnedProcess {
    /// The most bytes of `/proc/PID/status` that are read.
    private static let longestStatus = 64 * 1024
    private static let longestInfo = 4096

    /// The process of a pidfd that another process has passed; nil for any other descriptor, and
    /// where the process has ended or has no number here.
    package convenience init?(passed pidfd: Descriptor) {
        let file = "/proc/self/fdinfo/\(pidfd.number)"
        guard let lines = KernelFile.read(file, limit: Self.longestInfo),
            let text = Self.words(after: "Pid:", in: lines).first, let id = Int32(text)
        else { return nil }
        self.init(pid: id, pidfd: pidfd)
    }

    /// The path of the program as the kernel reports it, even where the file can't be opened, as in
    /// a file system of its user's. nil for a deleted file.
    package func executablePath() -> String? {
        guard let path = link("exe"), path.hasPrefix("/"), !path.hasSuffix(FileLink.deleted) else {
            return nil
        }
        return path
    }

    package func credentials() -> ProcessCredentials? {
        read("status", limit: Self.longestStatus).flatMap { ProcessCredentials($0, process: id) }
    }

    /// The words after the name that a line begins with; none where no line does. Bytes are compared:
    /// to find the characters of one such file first takes a third of a millisecond.
    static func words(after name: String, in lines: [UInt8]) -> [String] {
        var rest = lines[...]
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            if line.starts(with: name.utf8) {
                return line.dropFirst(name.utf8.count)
                    .split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
                    .map { String(decoding: $0, as: UTF8.self) }
            }
            rest = rest.dropFirst(line.count + 1)
        }
        return []
    }

    /// The numbers among them.
    static func numbers(after name: String, in lines: [UInt8]) -> [UInt32] {
        words(after: name, in: lines).compactMap { UInt32($0) }
    }
}

/// The users that a process runs as, and its rights.
package struct ProcessCredentials: Sendable, Equatable {
    package let realUser: UInt32
    package let effectiveUser: UInt32
    /// Real, effective, saved and of the file system.
    let users: Set<UInt32>
    let groups: Set<UInt32>
    let hasCapabilities: Bool
    /// Whether the process has, or may take, rights that its user's other programs lack: another
    /// user's, another group's than its own, or capabilities.
    package let hasForeignRights: Bool

    /// nil for incomplete lines, and for a thread that does not lead its process.
    init?(_ status: [UInt8], process: Int32) {
        let users = PinnedProcess.numbers(after: "Uid:", in: status)
        let groups = PinnedProcess.numbers(after: "Gid:", in: status)
        let capabilities = PinnedProcess.words(after: "CapPrm:", in: status).first
        // Real, effective, saved, of the file system.
        guard users.count == 4, groups.count == 4,
            PinnedProcess.numbers(after: "Tgid:", in: status) == [UInt32(process)],
            let permitted = capabilities.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        (realUser, effectiveUser) = (users[0], users[1])
        (self.users, self.groups) = (Set(users), Set(groups))
        hasCapabilities = permitted != 0
        hasForeignRights =
            self.users.count > 1 || self.groups.count > 1
            || (hasCapabilities && self.users != [0])
    }
}
