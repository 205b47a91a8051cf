// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import Synchronization
import SystemTestSupport
import Testing

@testable import CallerIdentity

@Suite struct ProcessFactsTests {
    /// The file itself: `/bin/sh` is a link to one shell or another.
    private let shell = URL(filePath: "/bin/sh").resolvingSymlinksInPath().path

    /// Becomes another program with its first line, and repeats the lines after it.
    private final class Changing {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()
        let facts: ProcessFacts
        var id: Int32 { process.processIdentifier }

        init(
            _ shell: String = "/bin/sh", _ script: String = "echo; read line; exec /bin/cat"
        ) throws {
            process.executableURL = URL(filePath: shell)
            process.arguments = ["-c", script]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            _ = try output.fileHandleForReading.read(upToCount: 1)
            let pinned = try #require(
                PinnedProcess(pid: process.processIdentifier, pidfd: nil))
            facts = try #require(ProcessFacts(pinned, OwnLooks()))
        }

        deinit { end() }

        func change() throws {
            try input.fileHandleForWriting.write(contentsOf: Data("now\nx".utf8))
            #expect(try output.fileHandleForReading.read(upToCount: 1) == Data("x".utf8))
        }

        func end() {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    @Test func `a program that goes on as it was is the same`() throws {
        let program = try Changing()
        for _ in 0..<3 { #expect(program.facts.hold()) }
    }

    @Test func `a program that becomes another is noticed`() throws {
        let program = try Changing()
        try program.change()
        #expect(!program.facts.hold())
    }

    @Test func `a program whose file gets another name, or none, is the same`() throws {
        let folder = try ScratchFolder()
        let (first, second) = (try folder.program("first", copying: shell), folder("second"))
        let program = try Changing(first)
        try FileManager.default.moveItem(atPath: first, toPath: second)
        #expect(program.facts.hold())
        try FileManager.default.removeItem(atPath: second)
        #expect(program.facts.hold())
    }

    /// File systems give the number of a file that is gone to the next one.
    @Test func `a new file in the place of a deleted one is another`() throws {
        let folder = try ScratchFolder()
        let (copy, next) = (try folder.program("shell", copying: shell), folder("next"))
        let program = try Changing(
            copy,
            "echo; read line; exec /bin/sh -c 'cp /bin/cat \(next) && exec \(next)'")
        try FileManager.default.removeItem(atPath: copy)
        try program.change()
        #expect(!program.facts.hold())
    }

    /// What a process looks like, and what it looks like at the second look.
    private final class Seen: ProcessLooks {
        let first: ProgramLook
        let next: ProgramLook?
        let isFirst = Mutex(true)

        init(first: ProgramLook, next: ProgramLook?) { (self.first, self.next) = (first, next) }

        func program(of process: PinnedProcess) -> ProgramLook? {
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? first : next
            }
        }
        func path(of process: Int32) -> String? { nil }
        func openExecutable(of process: PinnedProcess) -> OpenedExecutable? { nil }
        func sandboxFile(of process: PinnedProcess) -> SandboxFile? { nil }
        func otherReader(of terminal: SharedTerminal) -> SharedTerminal.Finding { .unknown }
    }

    /// It may have left its memory, which lasts, to another process.
    @Test(arguments: [ProgramLook.Rights.held, .none])
    func `a program whose file gives rights is looked at anew, and no other`(
        _ rights: ProgramLook.Rights
    ) throws {
        let program = try Changing()
        let process = try #require(PinnedProcess(pid: program.id, pidfd: nil))
        var first = ProgramLook(at: process)
        first.rights = rights
        var other = first
        other.executable = ExecutableFacts(path: "/usr/bin/other", device: 1, inode: 1)
        for (next, holds) in [(first, true), (other, rights == .none), (nil, rights == .none)] {
            let facts = try #require(ProcessFacts(process, Seen(first: first, next: next)))
            #expect(facts.hold() == holds)
        }
    }

    @Test func `a program that may not be looked at is the same while it lives`() throws {
        let program = try Changing()
        let process = try #require(PinnedProcess(pid: program.id, pidfd: nil))
        let hidden = ProgramLook(nil)
        let facts = try #require(ProcessFacts(process, Seen(first: hidden, next: hidden)))
        #expect(facts.hold())
        program.end()
        #expect(!facts.hold())
    }

    @Test func `a program that ended is noticed`() throws {
        let program = try Changing()
        program.end()
        #expect(!program.facts.hold())
    }

    @Test(.enabled(if: ControlGroupFolder.canBeMade, "no control group can be made here"))
    func `a program that goes to another control group is noticed, and so is its return`() throws {
        let program = try Changing()
        let folder = try #require(ControlGroupFolder())
        try folder.take(program.id)
        #expect(!program.facts.hold())
        try folder.giveBack(program.id)
        #expect(program.facts.hold())
    }
}

/// A control group of one test's own.
private final class ControlGroupFolder {
    static let canBeMade = ControlGroupFolder() != nil

    private let parent: String
    private let path: String

    init?() {
        let name = "keychain-test-" + UUID().uuidString
        let parents = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"]
        let parent = parents.first { parent in
            let folder = parent + "/" + name
            // Safe: reads the string.
            guard unsafe mkdir(folder, 0o755) == 0 else { return false }
            // The kernel makes this file with a control group; a plain folder has none.
            let isGroup = FileManager.default.isWritableFile(atPath: folder + "/cgroup.procs")
            if !isGroup { Self.remove(folder) }
            return isGroup
        }
        guard let parent else { return nil }
        self.parent = parent
        path = parent + "/" + name
    }

    deinit { Self.remove(path) }

    func take(_ process: Int32) throws { try Self.write(process, path) }
    func giveBack(_ process: Int32) throws { try Self.write(process, parent) }

    private static func remove(_ folder: String) {
        // Safe: reads the string.
        _ = unsafe rmdir(folder)
    }

    private static func write(_ process: Int32, _ folder: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: folder + "/cgroup.procs"))
        try file.write(contentsOf: Data("\(process)".utf8))
        try file.close()
    }
}
