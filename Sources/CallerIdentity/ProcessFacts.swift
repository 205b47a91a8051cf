// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// The parts of an identity that a running program could change, for comparison before each answer.
package struct ProcessFacts: Sendable {
    package let executable: ExecutableFacts?
    private let process: PinnedProcess
    private let controlGroups: ControlGroupFile?
    private let lines: [UInt8]?

    package init(_ process: PinnedProcess) {
        self.process = process
        executable = process.executable()
        controlGroups = process.openControlGroups()
        lines = controlGroups?.lines()
    }

    /// Whether the process lives, runs the same file and is in the same control groups.
    package func hold() -> Bool {
        // A process that has ended runs no file: one that can't be told is looked for alive.
        guard executable != nil || process.isAlive, process.runs(executable) else { return false }
        guard let controlGroups else { return process.cgroup() == nil }
        return lines.map(controlGroups.holds) ?? (controlGroups.lines() == nil)
    }
}
