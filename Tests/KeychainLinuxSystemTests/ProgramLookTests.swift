// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

/// What one look tells of the program that a process runs.
@Suite struct ProgramLookTests {
    private func sleeper(
        _ path: String = "/bin/sleep"
    ) throws -> (child: ChildProcess, process: PinnedProcess) {
        let child = try ChildProcess(
            executable: path, arguments: ["60"], environment: [], passing: [], newSession: true)
        return (child, try #require(PinnedProcess(pid: child.id, pidfd: nil)))
    }

    private func copy(of program: String, in folder: ScratchFolder) throws -> String {
        let copy = folder("copy")
        let copying = try ChildProcess(
            executable: "/bin/cp", arguments: [program, copy], environment: [], passing: [],
            newSession: false)
        #expect(copying.wait(deadlineSeconds: 10) == ExitStatus(code: 0))
        return copy
    }

    @Test func `a program of the machine's is at its path, and root's where the machine's are`()
        throws
    {
        let (child, process) = try sleeper()
        defer { child.kill() }
        let look = ProgramLook(at: process)
        #expect(look.executable == process.executable() && look.path == look.executable?.path)
        #expect(look.isAtItsPath && look.isInOurNamespaces && look.rights == .none)
        #expect(look.isTrusted == TrustedPath.isTrusted(try #require(look.executable)))
    }

    @Test func `its image lasts as long as the process runs the program`() throws {
        let (child, process) = try sleeper()
        let image = try #require(ProgramLook(at: process).image)
        for _ in 0..<3 { #expect(image.lasts) }
        child.kill()
        #expect(!image.lasts)
    }

    /// Of the same file, too: the new program may do something else.
    @Test func `a process that executes a program has another image`() throws {
        let (ready, says) = try Pipe.make()
        let (goes, on) = try Pipe.make()
        let child = try ChildProcess(
            executable: "/bin/sh",
            arguments: ["-c", "echo >&3; read x <&4; exec /bin/sh -c 'echo >&3; sleep 60'"],
            environment: [],
            passing: [(source: says.number, target: 3), (source: goes.number, target: 4)],
            newSession: true)
        defer { child.kill() }
        #expect(Pipe.read(ready, 1).count == 1)
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        let image = try #require(ProgramLook(at: process).image)
        #expect(image.lasts)
        #expect(unsafe write(on.number, [UInt8(ascii: "\n")], 1) == 1)
        #expect(Pipe.read(ready, 1).count == 1)
        #expect(!image.lasts)
        #expect(try #require(ProgramLook(at: process).image).lasts)
    }

    @Test func `a program whose file was deleted or replaced is at no path`() throws {
        let folder = try ScratchFolder()
        let path = try copy(of: "/bin/sleep", in: folder)
        let (child, process) = try sleeper(path)
        defer { child.kill() }
        #expect(ProgramLook(at: process).isAtItsPath)
        #expect(unsafe unlink(path) == 0)
        let deleted = ProgramLook(at: process)
        #expect(deleted.path == nil && deleted.executable == nil && !deleted.isAtItsPath)
        #expect(deleted.image?.lasts == true)
        _ = folder.write("copy", "another", mode: 0o755)
        #expect(!ProgramLook(at: process).isAtItsPath)
    }

    @Test func `a process that has ended has no image`() throws {
        let (child, process) = try sleeper()
        child.kill()
        let look = ProgramLook(at: process)
        #expect(look.image == nil && look.executable == nil && !look.isInOurNamespaces)
    }

    @Test(.enabled(if: isRoot, "only root may change what a file is"))
    func `a file's rights count for the processes that have them`() throws {
        let folder = try ScratchFolder()
        let path = try copy(of: "/bin/sleep", in: folder)
        let (before, old) = try sleeper(path)
        defer { before.kill() }
        #expect(unsafe chown(path, 0, 65534) == 0)
        #expect(unsafe chmod(path, 0o2755) == 0)
        #expect(ProgramLook(at: old).rights == .missing)
        let (after, new) = try sleeper(path)
        defer { after.kill() }
        #expect(ProgramLook(at: new).rights == .held)
    }
}
