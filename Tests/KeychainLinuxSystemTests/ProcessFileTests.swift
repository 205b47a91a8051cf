// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import KeychainLinuxSystem

struct ProcessFileTests {
    private func sleeper() throws -> (child: ChildProcess, process: PinnedProcess) {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["60"], environment: [], passing: [],
            newSession: true)
        return (child, try #require(PinnedProcess(pid: child.id, pidfd: nil)))
    }

    @Test func `an open look says the same as a new one, as often as it is asked`() throws {
        let (child, process) = try sleeper()
        defer { child.kill() }
        let file = try #require(process.openControlGroups())
        let lines = try #require(process.cgroup())
        for _ in 0..<3 {
            #expect(file.lines() == lines)
            #expect(file.holds(lines))
        }
    }

    @Test func `lines that are longer, shorter or others are not the same`() throws {
        let (child, process) = try sleeper()
        defer { child.kill() }
        let file = try #require(process.openControlGroups())
        let lines = try #require(process.cgroup())
        #expect(!file.holds(lines + [0x0A]))
        #expect(!file.holds(Array(lines.dropLast())))
        #expect(!file.holds(Array(lines.dropLast()) + [0x20]))
        #expect(!file.holds([]))
    }

    @Test func `it says nothing of a process that ended`() throws {
        let (child, process) = try sleeper()
        let file = try #require(process.openControlGroups())
        let lines = try #require(process.cgroup())
        child.kill()
        #expect(file.lines() == nil)
        #expect(!file.holds(lines))
        #expect(!file.holds([]))
    }
}
