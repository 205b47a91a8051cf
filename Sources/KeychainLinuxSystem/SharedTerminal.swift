// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// A terminal, and the programs that could read what is typed there besides those of the Unix session
/// that it controls: any program of the terminal's owner can open it by its name, and whichever reads
/// first has the key. One that has it open for writing alone counts too: it can let others open it
/// again while a question stands (TIOCNXCL), and turn the echo on.
///
/// Only files that are open while the look lasts are found (docs/threat-model.md).
package struct SharedTerminal: Sendable {
    package struct Reader: Sendable, Equatable {
        package let process: Int32
        /// The path of its executable; nil where that can't be read.
        package let executable: String?

        package init(process: Int32, executable: String?) {
            self.process = process
            self.executable = executable
        }
    }

    package enum Finding: Sendable, Equatable {
        case noOtherReader
        case reader(Reader)
        /// The user has more processes or open files than can be looked at.
        case notInTime
        /// Nothing could be looked at.
        case unknown
    }

    /// Which of several terminals with the same number it is.
    private struct Place {
        /// nil where the number alone tells.
        let fileSystems: Set<UInt64>?
        /// Users other than root whose programs can open it.
        let users: Set<UInt32>
        /// The program that gave the session its terminal: it has the other end anyway, and some
        /// keep this one open too.
        let emulator: Int32?
    }

    private static let patience: UInt64 = 2_000_000_000
    private static let root: UInt32 = 0
    /// Of the ways in which one process has one device open.
    private static let mostKinds = 8
    /// Pseudoterminals, whose numbers mean another terminal on each file system of theirs.
    private static let pseudoterminals: ClosedRange<UInt32> = 136...143

    package let user: UInt32
    package let device: UInt32
    package let session: Int32

    /// The terminal with the device number of `ProcessStatus.ttyNumber`, at which the user is asked.
    package init(device: UInt32, session: Int32, user: UInt32) {
        self.device = device
        self.session = session
        self.user = user
    }

    /// Takes at most two seconds. Root's programs are not looked for.
    package func otherReader() -> Finding {
        guard user != Self.root else { return .noOtherReader }
        let deadline = kc_monotonic_time() + Self.patience
        let place = place(before: deadline)
        for name in FolderNames.all(in: "/proc") {
            guard let id = Int32(name), id != place.emulator else { continue }
            guard kc_monotonic_time() < deadline else { return .notInTime }
            guard let process = PinnedProcess(pid: id, pidfd: nil),
                Self.isOf(place.users, process), process.status()?.session != session
            else { continue }
            switch isOpen(in: process, place, before: deadline) {
            case true?:
                return .reader(Reader(process: id, executable: process.executable()?.path))
            case false?: continue
            case nil: return .notInTime
            }
        }
        return .noOtherReader
    }

    /// The leader of the session has the terminal open.
    private func place(before deadline: UInt64) -> Place {
        guard let leader = PinnedProcess(pid: session, pidfd: nil) else {
            return Place(fileSystems: nil, users: [user], emulator: nil)
        }
        let files = files(of: session, below: leader.folderNumber, before: deadline) ?? []
        let open = files.filter { $0.is_indirect == 0 }
        let owners = Set(open.map(\.user)).subtracting([Self.root])
        let isPseudoterminal = Self.pseudoterminals.contains(device >> 8 & 0xFFF)
        return Place(
            fileSystems: open.isEmpty || !isPseudoterminal ? nil : Set(open.map(\.file_system)),
            users: owners.union([user]), emulator: leader.status()?.parent)
    }

    /// Whether one of the users controls the process. It may have taken another user's number in a
    /// user namespace of theirs, or run a program that is setuid to root.
    private static func isOf(_ users: Set<UInt32>, _ process: PinnedProcess) -> Bool {
        guard let owner = process.effectiveUser() else { return false }
        if users.contains(owner) { return true }
        if owner == root, !users.isDisjoint(with: process.users()) { return true }
        return users.contains { kc_is_in_namespace_of(process.folderNumber, $0) != 0 }
    }

    /// nil where the time was too short. Threads may have files that their process has not.
    private func isOpen(
        in process: PinnedProcess, _ place: Place, before deadline: UInt64
    ) -> Bool? {
        let isHeld = isOpen(in: process.id, below: process.folderNumber, place, before: deadline)
        guard isHeld == false else { return isHeld }
        let threads = FolderNames.all(in: "/proc/\(process.id)/task").compactMap { Int32($0) }
        var looked = process.id
        for thread in threads where kc_share_files(thread, looked) == 0 {
            guard kc_monotonic_time() < deadline else { return nil }
            if thread == process.id || kc_share_files(thread, process.id) != 0 { continue }
            // Safe: Swift's text is passed with a zero at its end, for the call alone.
            let folder = unsafe kc_open_folder("/proc/\(process.id)/task/\(thread)")
            guard folder >= 0 else { continue }
            let owned = Descriptor(owning: folder)
            switch isOpen(in: thread, below: owned.number, place, before: deadline) {
            case true?: return true
            case false?: looked = thread
            case nil: return nil
            }
        }
        return false
    }

    /// The file system of `/dev/tty` tells nothing of the terminal behind it.
    private func isOpen(
        in thread: Int32, below folder: Int32, _ place: Place, before deadline: UInt64
    ) -> Bool? {
        files(of: thread, below: folder, before: deadline)?.contains { file in
            file.is_indirect != 0 || place.fileSystems?.contains(file.file_system) ?? true
        }
    }

    /// How the thread has the device open; nil where the time was too short, or in more ways than
    /// any honest program.
    private func files(
        of thread: Int32, below folder: Int32, before deadline: UInt64
    ) -> [kc_open_device]? {
        var found = [kc_open_device](repeating: kc_open_device(), count: Self.mostKinds)
        // Safe: the array has as many places as the call is told.
        let count = unsafe kc_find_device(
            folder, thread, device, &found, Int32(Self.mostKinds), deadline)
        return count < 0 ? nil : Array(found.prefix(Int(count)))
    }
}

extension PinnedProcess {
    /// Real, effective, saved and of the file system; empty where they can't be read.
    func users() -> Set<UInt32> {
        let status = read("status", limit: ProcessFile.limit) ?? []
        return Set(Self.numbers(after: "Uid:", in: status))
    }
}
