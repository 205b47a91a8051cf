// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
internal import Synchronization

/// A process that stays the same while this value lives: its number may be reused, but this value
/// never refers to the new process.
package final class PinnedProcess: Sendable {
    package let id: Int32
    private let pidfd: Descriptor
    /// The process's folder under /proc, which stops answering when the process ends.
    private let folder: Descriptor
    /// Cached, as the start time never changes.
    private let start = Mutex<UInt64?>(nil)

    /// nil when the process has ended. Without a pidfd one is opened.
    package init?(pid: Int32, pidfd: Descriptor?) {
        guard pid > 0 else { return nil }
        if let pidfd {
            self.pidfd = pidfd
        } else {
            let made = kc_pidfd_open(pid)
            guard made >= 0 else { return nil }
            self.pidfd = Descriptor(owning: made)
        }
        // Safe: Swift's text is passed with a zero at its end, for the call alone.
        let opened = unsafe kc_open_folder("/proc/\(pid)")
        guard opened >= 0 else { return nil }
        folder = Descriptor(owning: opened)
        id = pid
        // The process is alive after the folder was opened, so the folder is this process's.
        guard isAlive else { return nil }
    }

    package var pidfdNumber: Int32 { pidfd.number }
    /// The pidfd.
    package var descriptor: Descriptor { pidfd }
    var folderNumber: Int32 { folder.number }

    /// The number of the process's control group in the unified hierarchy, which no other group has
    /// had since boot; nil where the kernel doesn't report it.
    package var controlGroupNumber: UInt64? {
        let number = kc_control_group(pidfd.number)
        return number == 0 ? nil : number
    }

    package var isAlive: Bool {
        var item = pollfd(fd: pidfd.number, events: Int16(POLLIN), revents: 0)
        // Safe: one element, which is this function's own.
        return unsafe poll(&item, 1, 0) == 0
    }

    /// nil when it can't be read or the file was deleted.
    package func executable() -> ExecutableFacts? {
        guard let path = executablePath(), let identity = FileNumbers(folder.number, "exe") else {
            return nil
        }
        return ExecutableFacts(path: path, device: identity.device, inode: identity.inode)
    }

    /// Whether paths and process numbers mean the same to the process as to this one.
    package func sharesOurNamespaces() -> Bool {
        ["ns/user", "ns/pid", "ns/mnt"].allSatisfy { name in
            guard let theirs = FileNumbers(folder.number, name) else { return false }
            return Self.ours[name] == theirs.inode
        }
    }

    private static let ours: [String: UInt64] = {
        var inodes: [String: UInt64] = [:]
        for name in ["ns/user", "ns/pid", "ns/mnt"] {
            inodes[name] = FileNumbers(AT_FDCWD, "/proc/self/" + name)?.inode
        }
        return inodes
    }()

    /// The lines of its control groups, at most 4 KiB.
    package func cgroup() -> [UInt8]? { read("cgroup", limit: ProcessFile.limit) }

    /// The file with these lines, for frequent reading.
    package func openControlGroups() -> ProcessFile? { openToLookAt("cgroup") }

    func openToLookAt(_ name: String) -> ProcessFile? {
        // Safe: opens below the pinned folder; the descriptor has an owner at once.
        let number = unsafe openat(folder.number, name, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        return ProcessFile(Descriptor(owning: number))
    }

    /// Clock ticks since boot; nil where it could not be read.
    package var startTime: UInt64? {
        start.withLock { start in
            if start == nil { start = status()?.startTime }
            return start
        }
    }

    package func status() -> ProcessStatus? {
        read("stat", limit: 1024).flatMap(ProcessStatus.init)
    }

    /// Whether the process may read from its controlling terminal; false without one.
    package var isInForeground: Bool {
        status().map { $0.ttyNumber != 0 && $0.foregroundGroup == $0.processGroup } ?? false
    }

    /// nil once the process has ended.
    func effectiveUser() -> UInt32? {
        var status = stat()
        // Safe: the structure is this function's own.
        return unsafe fstatat(folder.number, ".", &status, 0) == 0 ? status.st_uid : nil
    }

    /// The process's group and supplementary groups; nil when they can't be read, or are too many.
    package func groups() -> [UInt32]? {
        let limit = 64 * 1024
        guard let bytes = read("status", limit: limit), bytes.count < limit else { return nil }
        // Real, effective, saved, of the file system.
        let groups =
            Self.numbers(after: "Gid:", in: bytes).dropFirst().prefix(1)
            + Self.numbers(after: "Groups:", in: bytes)
        return groups.isEmpty ? nil : Array(groups)
    }

    /// The kernel's audit session; nil where none was set.
    package func auditSession() -> UInt32? {
        guard let text = read("sessionid", limit: 16),
            let number = UInt32(String(decoding: text, as: UTF8.self)), number != .max
        else { return nil }
        return number
    }

    func link(_ name: String) -> String? { FileLink.target(folder.number, name) }

    func read(_ name: String, limit: Int) -> [UInt8]? {
        // Safe: opens below the pinned folder, reads at most `limit` bytes.
        let descriptor = unsafe openat(folder.number, name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, written in
            written = unsafe max(Glibc.read(descriptor, buffer.baseAddress!, limit), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// The numbers of a file that a program chose, without a look that could wait for its file system.
struct FileNumbers {
    private(set) var device: UInt64 = 0
    private(set) var inode: UInt64 = 0

    init?(_ folder: Int32, _ name: String) {
        // Safe: the name is passed with a zero at its end; both numbers are this value's own.
        let result = unsafe name.withCString {
            unsafe kc_file_identity(folder, $0, &device, &inode)
        }
        guard result == 0 else { return nil }
    }
}

/// Symbolic links below `/proc` that lead to files.
enum FileLink {
    /// What the kernel writes behind the path of a file that was deleted.
    static let deleted = " (deleted)"

    /// The target of the link; nil where it can't be read or is no text.
    static func target(_ folder: Int32, _ name: String) -> String? {
        // Safe: the kernel writes at most the buffer's length.
        unsafe withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            let count = unsafe readlinkat(
                folder, name, buffer.assumingMemoryBound(to: CChar.self).baseAddress!, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return unsafe String(
                validating: UnsafeRawBufferPointer(rebasing: buffer[0..<count]), as: UTF8.self)
        }
    }
}

/// A file of one process's folder, kept open: it always refers to that process, shows its present
/// state at each look, and nothing once it has ended.
package final class ProcessFile: Sendable {
    /// The most bytes of it that are read.
    static let limit = 4096

    private let file: Descriptor

    init(_ file: Descriptor) { self.file = file }

    /// The lines; nil where they can't be read.
    package func lines() -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, written in
            // Safe: the kernel writes at most the buffer's length.
            written = unsafe max(pread(file.number, buffer.baseAddress!, Self.limit, 0), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Whether the file has these lines now.
    package func holds(_ lines: [UInt8]) -> Bool {
        // One byte more than expected, which shows longer lines.
        let most = min(lines.count + 1, Self.limit)
        // Safe: the kernel writes at most the buffer's length, and only what it wrote is read.
        return unsafe withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
            let count = unsafe pread(file.number, buffer.baseAddress!, most, 0)
            guard count == lines.count else { return false }
            return unsafe lines.elementsEqual(buffer[0..<count])
        }
    }
}

/// The memory that a process had when it was looked at: it ends when the process executes a program or
/// ends, and no right is needed to tell whether it has. Where another process shares it, it lasts as long
/// as that one has it.
package final class ProgramImage: Sendable {
    private static let entryBytes = 8

    package let descriptor: Descriptor
    /// The descriptor's, as each answer needs it.
    private let number: Int32

    /// `map` is `/proc/PID/pagemap` or `/proc/PID/maps`, opened while the image was there.
    package init(_ map: Descriptor) {
        descriptor = map
        number = map.number
    }

    /// Whether the process still runs from this memory.
    package var lasts: Bool {
        var entry: UInt64 = 0
        // Safe: reads at most as many bytes as the number has, which is this function's own.
        return unsafe pread(number, &entry, Self.entryBytes, 0) > 0
    }
}

/// The contents of `/proc/PID/stat`.
package struct ProcessStatus: Sendable, Equatable {
    package let parent: Int32
    package let processGroup: Int32
    /// The Unix session's leader.
    package let session: Int32
    /// Device number of the controlling terminal, 0 without one.
    package let ttyNumber: UInt32
    package let foregroundGroup: Int32
    package let threadCount: Int32
    /// Clock ticks since boot.
    package let startTime: UInt64
    /// The core that the process's first thread runs on, or has run on last.
    package let core: Int?

    /// The second field is a name in parentheses that may contain anything.
    init?(_ line: [UInt8]) {
        guard let close = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(close + 1)...].split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 19, let parent = Int32(fields[1]), let group = Int32(fields[2]),
            let session = Int32(fields[3]), let tty = Int32(fields[4]),
            let foreground = Int32(fields[5]), let threads = Int32(fields[17]),
            let start = UInt64(fields[19])
        else { return nil }
        self.parent = parent
        processGroup = group
        self.session = session
        ttyNumber = UInt32(bitPattern: tty)
        foregroundGroup = foreground
        threadCount = threads
        startTime = start
        core = fields.count > 36 ? Int(fields[36]) : nil
    }
}
