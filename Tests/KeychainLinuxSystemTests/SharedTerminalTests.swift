// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem

/// A terminal with a session of its own, and a program that has it open from elsewhere.
private final class SharedScene {
    /// A user without other programs; root's programs are not looked for.
    private static let user: UInt32 = isRoot ? 64_242 : geteuid()

    private static let script = """
        import ctypes, fcntl, os, pty, socket, sys, termios, threading
        how, user = sys.argv[1], int(sys.argv[2])
        master, slave = pty.openpty()
        name = os.ttyname(slave)
        over, alive = os.pipe()
        giver, taker = socket.socketpair()
        def child(body):
            done, told = os.pipe()
            made = os.fork()
            if made == 0:
                os.close(master)
                os.close(alive)
                os.setsid()
                body()
                if os.getuid() == 0:
                    os.setresuid(user, user, user)
                os.write(told, b"x")
                os.read(over, 1)
                os._exit(0)
            os.read(done, 1)
            return made
        def leads():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            if how == "leaves":
                socket.send_fds(giver, [b"x"], [os.open("/dev/tty", os.O_RDONLY)])
        def has_one_of_its_own():
            own = pty.openpty()[1]
            fcntl.ioctl(own, termios.TIOCSCTTY, 0)
            os.open("/dev/tty", os.O_RDWR)
        def opens_in_a_thread():
            ctypes.CDLL(None).unshare(0x400)
            os.open(name, os.O_RDWR | os.O_NOCTTY)
            opened.set()
            os.read(over, 1)
        opened = threading.Event()
        def other():
            if how != "reads":
                os.close(slave)
            if how == "writes":
                os.open(name, os.O_WRONLY | os.O_NOCTTY)
            if how == "elsewhere":
                pty.openpty()
            if how == "leaves":
                socket.recv_fds(taker, 1, 1)
            if how == "its own":
                has_one_of_its_own()
            if how == "thread":
                threading.Thread(target=opens_in_a_thread, daemon=True).start()
                opened.wait()
        leader = child(leads)
        reader = child(other)
        # The one that began the session is its emulator, and may keep this end.
        if how != "emulator":
            os.close(slave)
        if os.getuid() == 0:
            os.setresuid(user, user, user)
        print(leader, reader, flush=True)
        os.read(over, 1)
        """

    let terminal: SharedTerminal
    let session: Int32
    let reader: Int32
    private let program: Python

    init(_ how: String) throws {
        let (reads, writes) = try Pipe.make()
        program = try Python(
            Self.script, [how, "\(Self.user)"], passing: [(source: writes.number, target: 1)])
        let words = String(decoding: Pipe.read(reads, 100), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        try #require(words.count == 2)
        session = words[0]
        reader = words[1]
        let status = try #require(PinnedProcess(pid: session, pidfd: nil)?.status())
        terminal = SharedTerminal(
            device: status.ttyNumber, session: session, user: Self.user)
    }

    deinit { program.end() }
}

@Suite struct SharedTerminalTests {
    @Test(arguments: ["reads", "writes", "thread", "leaves"])
    func `a program of another session that has it open is found`(_ how: String) throws {
        let scene = try SharedScene(how)
        guard case .reader(let reader) = scene.terminal.otherReader() else {
            Issue.record("it is not found")
            return
        }
        #expect(reader.process == scene.reader)
        #expect(reader.executable?.contains("python3") == true)
    }

    @Test(arguments: ["closes", "emulator", "elsewhere", "its own"])
    func `what began the session or reads elsewhere is none`(_ how: String) throws {
        let scene = try SharedScene(how)
        #expect(scene.terminal.otherReader() == .noOtherReader)
    }

    @Test func `another user's programs are not looked at`() throws {
        let scene = try SharedScene("reads")
        let status = try #require(PinnedProcess(pid: scene.session, pidfd: nil)?.status())
        let roots = SharedTerminal(device: status.ttyNumber, session: scene.session, user: 0)
        #expect(roots.otherReader() == .noOtherReader)
    }

    @Test func `the users of a process are those of its status`() throws {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        #expect(own.effectiveUser() == geteuid())
        #expect(own.users().isSuperset(of: [getuid(), geteuid()]))
    }
}
