// SPDX-License-Identifier: Apache-2.0
@testable import CallerIdentity
import Foundation
import KeychainLinuxSystem
import KeychainSecrets
import SystemTestSupport
import Testing

@Suite struct ExecutableDigestsTests {
    private let folder: ScratchFolder
    private let digests = ExecutableDigests()

    init() throws { folder = try ScratchFolder() }

    /// A program that lives until it is ended.
    private func sleeper(_ path: String) throws -> (ChildProcess, PinnedProcess) {
        let child = try ChildProcess(
            executable: path, arguments: ["600"], environment: [], passing: [], newSession: true)
        return (child, try #require(PinnedProcess(pid: child.id, pidfd: nil)))
    }

    private func copyOfSleep() throws -> String {
        try folder.program("sleep", copying: "/bin/sleep")
    }

    private func expected(_ path: String) throws -> String {
        var hash = SHA256()
        hash.update([UInt8](try #require(FileManager.default.contents(atPath: path))))
        return "sha256:"
            + hash.digest().map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }

    @Test func `a program is known by what its file has in it, read once or again`() throws {
        let path = try copyOfSleep()
        let (child, process) = try sleeper(path)
        defer { child.kill() }
        let program = ProgramLook(at: process)
        let expected = try expected(path)
        for _ in 0..<2 {
            #expect(digests.digest(of: process, running: program, OwnLooks()) == expected)
        }
    }

    @Test func `a file whose place another one took has no digest`() throws {
        let path = try copyOfSleep()
        let (child, process) = try sleeper(path)
        defer { child.kill() }
        let program = ProgramLook(at: process)
        try FileManager.default.removeItem(atPath: path)
        _ = folder.write("sleep", "another", mode: 0o755)
        #expect(digests.digest(of: process, running: program, OwnLooks()) == nil)
    }

    /// It may have executed that one since it was looked at.
    @Test func `a process that runs another file than it was known by has no digest`() throws {
        let (child, process) = try sleeper(try copyOfSleep())
        defer { child.kill() }
        var program = ProgramLook(at: process)
        let facts = try #require(program.executable)
        program.executable = ExecutableFacts(
            path: facts.path, device: facts.device, inode: facts.inode + 1)
        #expect(digests.digest(of: process, running: program, OwnLooks()) == nil)
    }

    @Test func `a program that has ended has no digest`() throws {
        let (child, process) = try sleeper(try copyOfSleep())
        let program = ProgramLook(at: process)
        child.kill()
        #expect(digests.digest(of: process, running: program, OwnLooks()) == nil)
    }
}
