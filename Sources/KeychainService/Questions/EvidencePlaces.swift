// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import LocalSocket

/// Where something was proven, as the kernel tells it.
public struct EvidencePlaces: Codable, Sendable, Equatable {
    struct Process: Codable, Sendable, Equatable {
        let id: Int32
        let startTime: UInt64
        /// The file it runs, so that what it becomes by exec is another.
        let executableDevice: UInt64
        let executableInode: UInt64
    }
    struct Terminal: Codable, Sendable, Equatable {
        let device: UInt32
        /// The leader of the Unix session on it.
        let leader: Int32
        let leaderStart: UInt64
    }

    init() {}

    var process: Process?
    var terminal: Terminal?
    var session: Int32?
}

extension EvidencePlaces {
    /// Of a live process; what can't be told is left out, and shared with nobody.
    init(_ process: PinnedProcess, _ session: SessionID?) {
        self.session = session?.rawValue
        guard let status = process.status() else { return }
        if let executable = process.executable() {
            self.process = Process(
                id: process.id, startTime: status.startTime, executableDevice: executable.device,
                executableInode: executable.inode)
        }
        if status.ttyNumber != 0,
            let leader = PinnedProcess(pid: status.session, pidfd: nil)?.status()
        {
            terminal = Terminal(
                device: status.ttyNumber, leader: status.session, leaderStart: leader.startTime)
        }
    }
}
