// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// What is asked of a process that did not connect itself, and was named by a descriptor.
extension PinnedProcess {
    /// Lines of `/proc/PID/status`.
    private static let longestStatus = 64 * 1024
    private static let longestInfo = 4096

    /// The process of a pidfd that another process has passed; nil for a descriptor of anything else,
    /// and where the process is gone or has no number here.
    package convenience init?(passed pidfd: Descriptor) {
        let file = "/proc/self/fdinfo/\(pidfd.number)"
        guard let lines = KernelFile.read(file, limit: Self.longestInfo),
            let text = Self.value(of: "Pid:", in: lines).first, let id = Int32(text)
        else { return nil }
        self.init(pid: id, pidfd: pidfd)
    }

    /// What it runs, by the kernel's word alone: also where the file can't be looked at, as in a file
    /// system of its user's. nil for a file that was deleted.
    package func executablePath() -> String? {
        guard let path = link("exe"), path.hasPrefix("/"), !path.hasSuffix(" (deleted)") else {
            return nil
        }
        return path
    }

    package func credentials() -> ProcessCredentials? {
        read("status", limit: Self.longestStatus).flatMap { ProcessCredentials($0, process: id) }
    }

    /// Whether the file that it runs gives rights to each of its processes; also where that can't be told.
    package var runsFileThatGivesRights: Bool {
        guard let file = openExecutable() else { return true }
        return file.givesRights
    }

    /// The words behind the name of a line.
    static func value(of name: String, in lines: [UInt8]) -> [Substring] {
        let line = String(decoding: lines, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().map { $0 } ?? []
    }
}

/// As whom a process runs, and with which rights.
package struct ProcessCredentials: Sendable, Equatable {
    package let realUser: UInt32
    package let effectiveUser: UInt32
    /// Whether it has, or may take, rights that its user's programs have not: another user's, another
    /// group's than its own, or capabilities.
    package let hasForeignRights: Bool

    /// nil for lines that say too little, and for a thread that does not lead its process.
    init?(_ status: [UInt8], process: Int32) {
        func numbers(_ name: String) -> [UInt32] {
            PinnedProcess.value(of: name, in: status).compactMap { UInt32($0) }
        }
        let (users, groups) = (numbers("Uid:"), numbers("Gid:"))
        let capabilities = PinnedProcess.value(of: "CapPrm:", in: status).first
        // Real, effective, saved, of the file system.
        guard users.count == 4, groups.count == 4, numbers("Tgid:") == [UInt32(process)],
            let permitted = capabilities.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        (realUser, effectiveUser) = (users[0], users[1])
        let isRoots = Set(users) == [0]
        hasForeignRights =
            Set(users).count > 1 || Set(groups).count > 1 || (permitted != 0 && !isRoots)
    }
}
