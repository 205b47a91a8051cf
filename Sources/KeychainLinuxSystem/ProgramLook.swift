// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The file a process runs.
package struct ExecutableFacts: Sendable, Equatable {
    package let path: String
    package let device: UInt64
    package let inode: UInt64

    package init(path: String, device: UInt64, inode: UInt64) {
        self.path = path
        self.device = device
        self.inode = inode
    }
}

/// One look at the program that a process runs, made after `image` was opened: while that lasts, no other
/// program has taken the process over, unless another process shares its memory (`ProcessFacts`). The
/// file's place and rights are its owner's to change.
package struct ProgramLook: Sendable {
    /// What the file's set-id bits and capabilities mean for the process.
    package enum Rights: UInt8, Sendable {
        /// The file gives none.
        case none
        /// The process has those that its file gives.
        case held
        /// The file gives rights that the process lacks.
        case missing
        /// The file can't be opened, or its path leads to another file here.
        case unknown
    }

    /// The path as the kernel reports it, also where the file can't be looked at, as in a file system of
    /// its user's. nil for a deleted file, and for a path that is no text.
    package var path: String?
    /// nil where there is no path, or the file can't be looked at.
    package var executable: ExecutableFacts?
    /// Whether the path leads to the same file here (`TrustedPath.namesSameFile`).
    package var isAtItsPath = false
    /// Whether besides only root could have changed the file (`TrustedPath.isTrusted`).
    package var isTrusted = false
    /// Whether paths and process numbers mean the same to the process as to the machine's services.
    package var isInOurNamespaces = false
    package var rights = Rights.unknown
    /// nil where the process has ended, or may not be looked at.
    package let image: ProgramImage?

    package init(_ image: ProgramImage?) { self.image = image }
}

extension ProgramLook {
    /// Looks with this process's own rights. The file's own file system may be asked, and can take as
    /// long as it likes.
    package init(at process: PinnedProcess) {
        // First: where the process executes another program meanwhile, its image has ended, and the
        // look is of no use.
        self.init(process.image())
        path = process.executablePath()
        isInOurNamespaces = process.sharesOurNamespaces()
        guard let file = process.programFile(), let facts = file.facts else { return }
        path = facts.path
        executable = facts
        isAtItsPath = TrustedPath.namesSameFile(facts)
        isTrusted = isAtItsPath && TrustedPath.isTrusted(facts)
        rights = isAtItsPath ? Self.rights(file, of: process) : .unknown
    }

    private static func rights(_ file: ProgramFile, of process: PinnedProcess) -> Rights {
        guard let opened = file.opened() else { return .unknown }
        guard opened.givesRights else { return .none }
        return process.credentials().map(opened.hasGivenItsRights) ?? false ? .held : .missing
    }
}

/// The file that a process runs, kept open without access to its contents.
struct ProgramFile {
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Path and numbers are read of the open file itself: a process that executes another program
    /// meanwhile can't lend it that program's path. nil where the file has no path any more.
    var facts: ExecutableFacts? {
        guard let path = FileLink.target(AT_FDCWD, "/proc/self/fd/\(descriptor.number)"),
            path.hasPrefix("/"), !path.hasSuffix(FileLink.deleted),
            let numbers = FileNumbers(descriptor.number, "")
        else { return nil }
        return ExecutableFacts(path: path, device: numbers.device, inode: numbers.inode)
    }

    /// The same file, opened for reading.
    func opened() -> OpenedExecutable? {
        // Safe: the path of a descriptor that is held; the new descriptor has an owner at once.
        let number = unsafe open(
            "/proc/self/fd/\(descriptor.number)", O_RDONLY | O_CLOEXEC | O_NOCTTY)
        return number < 0 ? nil : OpenedExecutable(Descriptor(owning: number))
    }
}

extension PinnedProcess {
    /// nil where the process has ended, and where this process may not look.
    func image() -> ProgramImage? {
        for name in ["pagemap", "maps"] {
            // Safe: opens below the pinned folder; the descriptor has an owner at once.
            let number = unsafe openat(folderNumber, name, O_RDONLY | O_CLOEXEC)
            if number >= 0 { return ProgramImage(Descriptor(owning: number)) }
        }
        return nil
    }

    func programFile() -> ProgramFile? {
        // Safe: Swift's text is passed with a zero at its end, for the call alone.
        let number = unsafe kc_hold_file(folderNumber, "exe")
        return number < 0 ? nil : ProgramFile(Descriptor(owning: number))
    }

    /// The program's file, opened for reading. nil where its path leads to another file here: then it
    /// may lie in a file system that its user brought, which may never answer.
    package func openExecutable() -> OpenedExecutable? {
        guard let file = programFile(), let facts = file.facts,
            TrustedPath.namesSameFile(facts)
        else { return nil }
        return file.opened()
    }
}
