// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

struct PinnedProcessTests {
    private func sleeper() throws -> ChildProcess {
        try ChildProcess(
            executable: "/bin/sleep", arguments: ["60"], environment: [], passing: [],
            newSession: true)
    }

    @Test func `this process is who it is`() throws {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        #expect(own.id == getpid())
        #expect(own.isAlive)
        #expect(own.sharesOurNamespaces())
        let status = try #require(own.status())
        #expect(status.parent == getppid())
        #expect(status.session == getsid(0))
        #expect(status.processGroup == getpgrp())
        #expect(status.startTime > 0)
        #expect(own.cgroup() == KernelFile.read("/proc/self/cgroup", limit: 4096))
        let session = KernelFile.read("/proc/self/sessionid", limit: 16)
            .flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        #expect(own.auditSession() == (session == .max ? nil : session))
    }

    @Test func `another program is known by the file it runs`() throws {
        let child = try sleeper()
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        let executable = try #require(process.executable())
        #expect(executable.path.hasSuffix("/sleep"))
        #expect(TrustedPath.namesSameFile(executable))
        let status = try #require(process.status())
        #expect(status.parent == getpid())
        #expect(status.session == child.id)
        #expect(status.ttyNumber == 0)
    }

    @Test func `a process that ended says nothing any more`() throws {
        let child = try sleeper()
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        child.kill()
        #expect(!process.isAlive)
        #expect(process.executable() == nil)
        #expect(process.status() == nil)
        #expect(process.cgroup() == nil)
        #expect(!process.sharesOurNamespaces())
        #expect(PinnedProcess(pid: child.id, pidfd: nil) == nil)
    }

    @Test func `a number that was given to another process is not taken for the first`() throws {
        let child = try sleeper()
        let pidfd = Descriptor(owning: kc_pidfd_open(child.id))
        child.kill()
        #expect(PinnedProcess(pid: getpid(), pidfd: pidfd) == nil)
    }

    @Test(arguments: [0, -1, Int32.max])
    func `a number that no process can have is refused`(pid: Int32) {
        #expect(PinnedProcess(pid: pid, pidfd: nil) == nil)
    }

    @Test func `a program whose file was deleted has no name`() throws {
        let folder = try ScratchFolder()
        let copy = folder("program")
        let copying = try ChildProcess(
            executable: "/bin/cp", arguments: ["/bin/sleep", copy], environment: [], passing: [],
            newSession: false)
        #expect(copying.wait(deadlineSeconds: 10) == ExitStatus(code: 0))
        let child = try ChildProcess(
            executable: copy, arguments: ["60"], environment: [], passing: [], newSession: true)
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        #expect(process.executable()?.path == copy)
        #expect(unsafe unlink(copy) == 0)
        #expect(process.executable() == nil)
        // Neither does a new file of the same name stand in for it.
        _ = folder.write("program", "", mode: 0o755)
        #expect(process.executable() == nil)
    }

    /// The second forgery of the design: in a namespace of its own a program shows any path.
    @Test(
        .enabled(if: isRoot, "only root may make these namespaces"), arguments: ["mount", "user"])
    func `a namespace of its own is seen`(kind: String) throws {
        let (ready, says) = try Pipe.make()
        let child = try ChildProcess(
            executable: "/usr/bin/unshare",
            arguments: ["--" + kind, "/bin/sh", "-c", "echo >&3; exec sleep 60"],
            environment: [], passing: [(source: says.number, target: 3)], newSession: true)
        #expect(Pipe.read(ready, 1).count == 1)
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        #expect(!process.sharesOurNamespaces())
    }

    @Test(arguments: ["name", "a b", ")", "x) R 1 1 1 1 1", "((", "\n"])
    func `a process's name hides nothing`(name: String) {
        let fields =
            "S 11 12 13 1025 14 0 0 0 0 0 0 0 0 0 20 0 3 0 98765 0 0"
            + String(repeating: " 0", count: 14) + " 5 0"
        let status = ProcessStatus(Array("77 (\(name)) \(fields)\n".utf8))
        #expect(status?.parent == 11)
        #expect(status?.processGroup == 12)
        #expect(status?.session == 13)
        #expect(status?.ttyNumber == 1025)
        #expect(status?.foregroundGroup == 14)
        #expect(status?.threadCount == 3)
        #expect(status?.startTime == 98765)
        #expect(status?.core == 5)
    }

    @Test(arguments: [
        "", ")", "1 (x)", "1 (x) S 1 2 3", "1 (x) S a b c d e f g h i j k l m n o p q r",
    ])
    func `what is no status line is none`(line: String) {
        #expect(ProcessStatus(Array(line.utf8)) == nil)
    }
}
