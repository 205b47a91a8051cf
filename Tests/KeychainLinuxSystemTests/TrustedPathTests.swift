// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

struct TrustedPathTests {
    private func facts(_ path: String) throws -> ExecutableFacts {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return ExecutableFacts(
            path: path, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    @Test func `the system's own programs are trusted`() throws {
        #expect(TrustedPath.isTrusted(try facts("/usr/bin/env")))
        #expect(InstalledProgram.isTrusted("/usr/bin/env"))
    }

    /// As a bind mount in a namespace of its own shows it.
    @Test func `a trusted path does not lend its name to another file`() throws {
        let env = try facts("/usr/bin/env")
        let other = ExecutableFacts(path: env.path, device: env.device, inode: env.inode + 1)
        #expect(!TrustedPath.isTrusted(other))
        let elsewhere = ExecutableFacts(path: env.path, device: env.device + 1, inode: env.inode)
        #expect(!TrustedPath.isTrusted(elsewhere))
    }

    @Test func `a file below a folder that all may write to is not trusted`() throws {
        let folder = try ScratchFolder(mode: 0o755)
        let file = try facts(folder.write("program", "", mode: 0o755))
        #expect(TrustedPath.namesSameFile(file))
        #expect(!TrustedPath.isTrusted(file))
        #expect(!InstalledProgram.isTrusted(file.path))
    }

    @Test func `another file of the same name is not the same`() throws {
        let folder = try ScratchFolder()
        let before = try facts(folder.write("program", "", mode: 0o755))
        // Kept, so that its number is not given away again.
        #expect(unsafe rename(folder("program"), folder("old")) == 0)
        #expect(!TrustedPath.namesSameFile(before))
        _ = folder.write("program", "", mode: 0o755)
        #expect(!TrustedPath.namesSameFile(before))
        #expect(TrustedPath.namesSameFile(try facts(folder("program"))))
    }

    @Test func `what is not there is not trusted`() {
        let facts = ExecutableFacts(path: "/usr/bin/no such program", device: 1, inode: 1)
        #expect(!TrustedPath.isTrusted(facts))
        #expect(!InstalledProgram.isTrusted("/usr/bin/no such program"))
    }
}

/// Needs root, who alone can make what is trusted in the first place.
@Suite(.enabled(if: isRoot, "only root's files can be trusted"))
struct InstalledProgramTests {
    private let folder: ScratchFolder
    private let program: String

    init() throws {
        folder = try ScratchFolder(below: "/opt", mode: 0o755)
        program = folder.write("program", "", mode: 0o755)
    }

    @Test func `root's file in root's folders is trusted`() {
        #expect(InstalledProgram.isTrusted(program))
    }

    @Test(arguments: [0o775, 0o757, 0o777, 0o1777] as [UInt32])
    func `neither file nor folder may be open to writers`(mode: UInt32) {
        chmodOrFail(program, mode)
        #expect(!InstalledProgram.isTrusted(program))
        chmodOrFail(program, 0o755)
        chmodOrFail(folder.path, mode)
        #expect(!InstalledProgram.isTrusted(program))
    }

    @Test func `neither file nor folder may be another's`() {
        #expect(unsafe chown(program, 61_234, 0) == 0)
        #expect(!InstalledProgram.isTrusted(program))
        #expect(unsafe chown(program, 0, 0) == 0)
        #expect(unsafe chown(folder.path, 61_234, 0) == 0)
        #expect(!InstalledProgram.isTrusted(program))
    }

    @Test func `a link is not followed`() {
        #expect(unsafe symlink(program, folder("link")) == 0)
        #expect(!InstalledProgram.isTrusted(folder("link")))
        #expect(unsafe symlink(folder.path, folder("folder")) == 0)
        #expect(!InstalledProgram.isTrusted(folder("folder/program")))
    }

    @Test func `a path that a program names tells of nothing that not all may see`() {
        #expect(TrustedPath.isTrustedAndPublic(program))
        #expect(TrustedPath.isTrustedAndPublic("/usr/bin/env"))
        chmodOrFail(folder.path, 0o750)
        #expect(InstalledProgram.isTrusted(program))
        #expect(!TrustedPath.isTrustedAndPublic(program))
        chmodOrFail(folder.path, 0o711)
        #expect(TrustedPath.isTrustedAndPublic(program))
        #expect(!TrustedPath.isTrustedAndPublic(program + "/../program"))
        #expect(!TrustedPath.isTrustedAndPublic(folder("nothing")))
    }

    @Test func `a folder is no program`() {
        #expect(!InstalledProgram.isTrusted(folder.path))
    }

    @Test func `only a trusted setgid program has a group`() {
        #expect(InstalledProgram.setgidGroup(program) == nil)
        #expect(unsafe chown(program, 0, 61_234) == 0)
        #expect(InstalledProgram.setgidGroup(program) == nil)
        chmodOrFail(program, 0o2755)
        #expect(InstalledProgram.setgidGroup(program) == 61_234)
        chmodOrFail(program, 0o2775)
        #expect(InstalledProgram.setgidGroup(program) == nil)
    }
}
