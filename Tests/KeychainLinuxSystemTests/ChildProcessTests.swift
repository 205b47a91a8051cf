// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

struct ChildProcessTests {
    /// What a Python program says on its descriptor 3.
    private func output(
        _ program: String, environment: [String] = [],
        also passing: [(source: Int32, target: Int32)] = [], newSession: Bool = false
    ) throws -> String {
        let (reads, child): (Descriptor, Python) = try {
            let (reads, writes) = try Pipe.make()
            let child = try Python(
                "import os\ndef say(text): os.write(3, str(text).encode())\n" + program,
                environment: environment,
                passing: [(source: writes.number, target: 3)] + passing, newSession: newSession)
            return (reads, child)
        }()
        let text = Pipe.text(reads)
        #expect(child.status() == ExitStatus(code: 0))
        return text
    }

    private func run(_ command: String) throws -> ChildProcess {
        try ChildProcess(
            executable: "/bin/sh", arguments: ["-c", command], environment: [], passing: [],
            newSession: true)
    }

    @Test func `only the named descriptors are passed`() throws {
        // One that a careless library forgot to close on exec, and one to be passed.
        let forgotten = Descriptor(owning: dup(2))
        let named = try Pipe.make()
        #expect(fcntl(forgotten.number, F_GETFD) == 0)
        let list = """
            def is_open(number):
                try: os.fstat(number)
                except OSError: return False
                return True
            say([number for number in range(1000) if is_open(number)])
            """
        #expect(try output(list) == "[0, 1, 2, 3]")
        #expect(
            try output(list, also: [(source: named.writes.number, target: 6)], newSession: true)
                == "[0, 1, 2, 3, 6]")
    }

    @Test func `a child without a terminal may be given its standard descriptors`() throws {
        let named = try Pipe.make()
        let list = "say([os.readlink(f'/proc/self/fd/{number}')[:5] for number in range(3)])"
        #expect(
            try output(list, also: [(source: named.writes.number, target: 1)], newSession: true)
                == "['/dev/', 'pipe:', '/dev/']")
    }

    @Test func `descriptors may change places`() throws {
        let first = try Pipe.make()
        let second = try Pipe.make()
        let program = "import os; os.write(11, b'to first'); os.write(12, b'to second')"
        let child = try Python(
            program,
            passing: [
                (source: first.writes.number, target: 11),
                (source: second.writes.number, target: 12),
            ])
        #expect(child.status() == ExitStatus(code: 0))
        #expect(Pipe.read(first.reads, 20) == Array("to first".utf8))
        #expect(Pipe.read(second.reads, 20) == Array("to second".utf8))
    }

    @Test func `the environment is what was given`() throws {
        let environment = "say(open('/proc/self/environ').read().split(chr(0)))"
        #expect(try output(environment) == "['']")
        #expect(try output(environment, environment: ["A=1", "B=2"]) == "['A=1', 'B=2', '']")
    }

    @Test func `in a session of its own it has no terminal and no input`() throws {
        let session = """
            say(os.getsid(0) == os.getpid())
            say([os.readlink(f"/proc/self/fd/{number}") for number in range(3)])
            """
        #expect(
            try output(session, newSession: true)
                == "True['/dev/null', '/dev/null', '/dev/null']")
        #expect(try output(session).hasPrefix("False"))
    }

    @Test func `no signal is blocked or ignored, and it dies with us`() throws {
        // Read by another program, since Python ignores some itself.
        let folder = try ScratchFolder()
        let child = try ChildProcess(
            executable: "/bin/cp", arguments: ["/proc/self/status", folder("status")],
            environment: [], passing: [], newSession: false)
        #expect(child.wait(deadlineSeconds: 20) == ExitStatus(code: 0))
        let text = try #require(KernelFile.read(folder("status"), limit: 8192))
        let status = String(decoding: text, as: UTF8.self).split(separator: "\n")
        for name in ["SigBlk:\t", "SigIgn:\t"] {
            let line = try #require(status.first { $0.hasPrefix(name) })
            let signals = try #require(UInt64(line.dropFirst(name.count), radix: 16))
            // The C library keeps 32 and 33 to itself.
            #expect(signals & 0x7fff_ffff == 0, "\(line)")
        }
        // PR_GET_PDEATHSIG.
        let dying = try Python(
            """
            import ctypes, sys
            number = ctypes.c_int()
            ctypes.CDLL(None).prctl(2, ctypes.byref(number))
            sys.exit(number.value)
            """)
        #expect(dying.status() == ExitStatus(code: SIGKILL))
    }

    @Test(arguments: [0, 1, 77, 255] as [Int32])
    func `its exit code is told`(code: Int32) throws {
        let child = try run("exit \(code)")
        #expect(child.wait(deadlineSeconds: 20) == ExitStatus(code: code))
        #expect(child.wait(deadlineSeconds: 0) == ExitStatus(code: code))
        child.kill()
        #expect(child.wait(deadlineSeconds: 0) == ExitStatus(code: code))
    }

    @Test func `it is waited for no longer than asked, and can be ended`() throws {
        let child = try run("exec sleep 60")
        #expect(child.wait(deadlineSeconds: 0.05) == nil)
        child.kill()
        #expect(child.wait(deadlineSeconds: 0) == ExitStatus(code: nil))
        #expect(kill(child.id, 0) == -1 && errno == ESRCH)
    }

    @Test func `one thread may wait while another ends it`() throws {
        for _ in 0..<20 {
            let child = try run("exec sleep 60")
            let waiting = Background { child.wait(deadlineSeconds: 20) }
            let ending = Background { child.kill() }
            #expect(try waiting.value() == ExitStatus(code: nil))
            try ending.value()
        }
    }

    @Test func `it does not outlive the one who holds it`() throws {
        let id = try run("exec sleep 60").id
        #expect(kill(id, 0) == -1 && errno == ESRCH)
    }

    @Test func `a program that is missing or is none is an error`() throws {
        let folder = try ScratchFolder()
        let text = folder.write("text", "", mode: 0o644)
        for (path, error) in [("/no/such/program", ENOENT), (text, EACCES), ("/", EACCES)] {
            #expect(throws: SystemError.system(error)) {
                try ChildProcess(
                    executable: path, arguments: [], environment: [], passing: [],
                    newSession: false)
            }
        }
    }
}
