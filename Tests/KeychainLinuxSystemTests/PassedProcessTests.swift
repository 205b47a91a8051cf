// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import Testing

@testable import KeychainLinuxSystem

/// A process that another program names by a descriptor.
@Suite struct PassedProcessTests {
    private func sleeping() throws -> ChildProcess {
        try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
    }

    private func pidfd(_ id: Int32) -> Descriptor { Descriptor(owning: kc_pidfd_open(id)) }

    @Test func `a pidfd is its process, for as long as that lives`() throws {
        let child = try sleeping()
        let descriptor = pidfd(child.id)
        let process = try #require(PinnedProcess(passed: descriptor))
        #expect(process.id == child.id && process.isAlive)
        #expect(process.executablePath()?.hasSuffix("sleep") == true || process.executable() != nil)
        child.kill()
        #expect(!process.isAlive)
        #expect(PinnedProcess(passed: descriptor) == nil)
    }

    @Test(arguments: ["/etc/hostname", "/proc/self", "/dev/null"])
    func `another file is no process`(_ path: String) {
        let descriptor = Descriptor(owning: unsafe open(path, O_RDONLY | O_CLOEXEC))
        #expect(PinnedProcess(passed: descriptor) == nil)
    }

    @Test func `it tells as whom it runs`() throws {
        let child = try sleeping()
        defer { child.kill() }
        let process = try #require(PinnedProcess(passed: pidfd(child.id)))
        let credentials = try #require(process.credentials())
        #expect(credentials.realUser == getuid() && credentials.effectiveUser == geteuid())
        #expect(ProgramLook(at: process).rights == .none)
    }

    private func status(
        name: String = "x", users: String = "1000\t1000\t1000\t1000",
        groups: String = "1\t1\t1\t1", capabilities: String = "0000000000000000",
        process: Int32 = 7
    ) -> ProcessCredentials? {
        let lines = """
            Name:\t\(name)
            Tgid:\t\(process)
            Pid:\t7
            Uid:\t\(users)
            Gid:\t\(groups)
            CapInh:\t0000000000000000
            CapPrm:\t\(capabilities)

            """
        return ProcessCredentials(Array(lines.utf8), process: 7)
    }

    @Test func `rights that its user's programs have not are foreign`() {
        #expect(status()?.hasForeignRights == false)
        #expect(status(users: "1000\t1000\t0\t1000")?.hasForeignRights == true)
        #expect(status(users: "1000\t0\t0\t0")?.effectiveUser == 0)
        #expect(status(groups: "1\t2\t2\t2")?.hasForeignRights == true)
        #expect(status(capabilities: "0000000000002000")?.hasForeignRights == true)
        let root = status(users: "0\t0\t0\t0", capabilities: "000001ffffffffff")
        #expect(root?.hasForeignRights == false)
    }

    @Test func `a program's name is no line of its own`() {
        let named = status(name: "Uid:\t0\t0\t0\t0", users: "1000\t1000\t1000\t1000")
        #expect(named?.realUser == 1000)
        #expect(status(name: "\u{301}é 👩‍👩‍👧")?.realUser == 1000)
    }

    @Test func `a thread, and lines that say too little, are no process`() {
        #expect(status(process: 6) == nil)
        #expect(status(users: "1000\t1000") == nil)
        #expect(status(capabilities: "x") == nil)
    }
}
