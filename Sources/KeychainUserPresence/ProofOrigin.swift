// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// The place of a proof, as the kernel tells it. A part that can't be told is left out, and matches
/// no process.
package struct ProofOrigin: Codable, Sendable, Equatable {
    package struct Process: Codable, Sendable, Equatable {
        package let id: Int32
        package let startTime: UInt64
        /// The file that the process runs: after an exec it counts as another process.
        let executableDevice: UInt64
        let executableInode: UInt64

        /// The number of ancestors looked at; chains of real programs are shorter.
        private static let mostGenerations = 64
    }
    package struct Terminal: Codable, Sendable, Equatable {
        package let device: UInt32
        /// The leader of the Unix session on the terminal.
        package let leader: Int32
        package let leaderStart: UInt64
    }

    package var process: Process?
    package var terminal: Terminal?
    package var session: Int32?
}

extension ProofOrigin.Process {
    package init?(_ process: PinnedProcess, running executable: ExecutableFacts?) {
        guard let executable, let startTime = process.startTime else { return nil }
        self.init(
            id: process.id, startTime: startTime, executableDevice: executable.device,
            executableInode: executable.inode)
    }
}

extension ProofOrigin.Process {
    /// Whether `process` descends from this one, and this one still runs the same file.
    package func isAncestor(of process: PinnedProcess, _ looks: any ProcessLooks) -> Bool {
        var descendant = process
        for _ in 0..<Self.mostGenerations {
            guard let parent = descendant.status()?.parent, parent > 1,
                let ancestor = PinnedProcess(pid: parent, pidfd: nil)
            else { return false }
            if parent == id {
                guard let program = looks.program(of: ancestor) else { return false }
                return Self(ancestor, running: program.executable) == self
            }
            descendant = ancestor
        }
        return false
    }
}

extension ProofOrigin.Terminal {
    /// The name in `/dev`; nil for a terminal that is neither a pseudo terminal nor a console.
    package var name: String? {
        let major = device >> 8 & 0xFFF
        let minor = device & 0xFF | device >> 12 & 0xFFF00
        return switch (major, minor) {
        case (136, _): "pts/\(minor)"
        case (4, 0..<64): "tty\(minor)"
        default: nil
        }
    }

    /// The terminal of a live process.
    package init?(_ process: PinnedProcess) {
        guard let status = process.status(), status.ttyNumber != 0,
            let leader = PinnedProcess(pid: status.session, pidfd: nil)?.status()
        else { return nil }
        self.init(
            device: status.ttyNumber, leader: status.session, leaderStart: leader.startTime)
    }
}
