// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// A Python process, which ends with the test.
package final class Python: Sendable {
    private let child: ChildProcess
    package var id: Int32 { child.id }

    package init(
        _ program: String, _ arguments: [String] = [], environment: [String] = [],
        passing: [(source: Int32, target: Int32)] = [], newSession: Bool = false
    ) throws {
        child = try ChildProcess(
            executable: "/usr/bin/python3", arguments: ["-c", program] + arguments,
            environment: environment, passing: passing, newSession: newSession)
    }

    package func status() -> ExitStatus? { child.wait(deadlineSeconds: 20) }
    package func end() { child.kill() }
}
