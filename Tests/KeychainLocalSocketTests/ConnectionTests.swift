// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import KeychainSecrets
import Synchronization
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

struct ConnectionTests {
    private let folder: ScratchFolder
    private let listener: Listener
    private var path: String { folder("socket") }

    init() throws {
        folder = try ScratchFolder()
        listener = try Listener(path: folder("socket"), mode: 0o600)
    }

    private func greeted() throws -> ServerConnection {
        let connection = try ServerConnection(try listener.accept())
        try connection.greet()
        return connection
    }

    private func connected() throws -> (ServerConnection, ClientConnection) {
        let path = path
        let client = Background { try ClientConnection(path: path, requiredPeer: nil) }
        return (try greeted(), try client.value())
    }

    /// The server's end of a connection that a Python program made; the program goes on.
    private func connection(
        of program: String
    ) throws -> (connection: ServerConnection, child: Python) {
        let child = try Python(program, [path])
        return (try greeted(), child)
    }

    @Test func `a peer hears nothing before it is greeted`() throws {
        let path = path
        let client = Background {
            try ClientConnection(path: path, requiredPeer: nil, greetedWithin: .milliseconds(100))
        }
        let connection = try ServerConnection(try listener.accept())
        // Without the nonce it gives up.
        #expect(throws: SocketError.timedOut) { try client.value() }
        withExtendedLifetime(connection) {}
    }

    @Test func `requests and answers flow both ways`() throws {
        let (server, client) = try connected()
        for number in 1...3 as ClosedRange<UInt8> {
            try client.send(
                Frame(message: [number], secrets: HeldSecret(SecretBytes(copying: [9]))))
            #expect(try server.receive(.request).content == [[number], [9]])
            try server.send(Frame(message: [number, number], secrets: nil))
            #expect(
                try client.receive(.answer, within: .seconds(5)).content
                    == [[number, number], []])
        }
    }

    @Test func `what a peer said without being asked is noticed, and not heard`() throws {
        let (server, client) = try connected()
        #expect(!server.hasUnread)
        for number in 1...2 as ClosedRange<UInt8> {
            try client.send(Frame(message: [number], secrets: nil))
        }
        #expect(server.hasUnread)
        #expect(try server.receive(.request).content[0] == [1])
        #expect(server.hasUnread)
        #expect(try server.receive(.request).content[0] == [2])
        #expect(!server.hasUnread)
    }

    @Test func `a peer that says nothing is waited for as long as was said`() throws {
        let (server, client) = try connected()
        #expect(throws: SocketError.timedOut) {
            try server.receive(.request, within: .milliseconds(20))
        }
        withExtendedLifetime(client) {}
    }

    @Test func `a frame that is not admitted gets no memory`() throws {
        let (server, client) = try connected()
        let secrets = HeldSecret(SecretBytes(count: 5000) { (_: inout MutableRawSpan) in })
        try client.send(Frame(message: [1, 2, 3], secrets: secrets))
        var announced = 0
        #expect(throws: SocketError.noRoom) {
            try server.receive(.request) { bytes throws(SocketError) in
                announced = bytes.message + bytes.secrets
                throw .noRoom
            }
        }
        #expect(announced == 5003)
    }

    @Test func `the peer is who the kernel says`() throws {
        let (server, client) = try connected()
        #expect(server.peer == .own)
        #expect(server.process?.id == getpid())
        #expect(server.process?.executable()?.path == InstalledProgram.ownPath())
        #expect(client.serverUser == geteuid())
        #expect(client.belongsToThisProcess)
    }

    /// The kernel wakes a thread in a receiving call when the peer takes what it sent, for nothing.
    @Test func `a program that waits for its answer sleeps until the answer comes`() throws {
        let (server, client) = try connected()
        let thread = Mutex<String?>(nil)
        let asking = Background {
            let itself = try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/thread-self")
            thread.withLock { $0 = "/proc/\(itself)" }
            try client.send(Frame(message: [1], secrets: nil))
            return try client.receive(.answer, within: .seconds(20))
        }
        // It has sent, and is asleep for 50 looks in a row.
        var (slept, looks, tries) = (-1, 0, 0)
        while looks < 50 {
            usleep(1000)
            tries += 1
            try #require(tries < 20_000)
            let (isAsleep, now) = try thread.withLock { $0 }.map(sleeps) ?? (false, -1)
            looks = server.hasUnread && isAsleep && now == slept ? looks + 1 : 0
            slept = now
        }
        _ = try server.receive(.request)
        usleep(50_000)
        #expect(try sleeps(of: #require(thread.withLock { $0 })).times == slept)
        try server.send(Frame(message: [2], secrets: nil))
        #expect(try asking.value().message == [2])
    }

    /// Whether the thread is asleep, and how often it has gone to sleep.
    private func sleeps(of thread: String) throws -> (isNow: Bool, times: Int) {
        let status = try String(contentsOfFile: "\(thread)/status", encoding: .utf8)
        func value(_ name: String) throws -> Substring {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):\t") }
            return try #require(line).dropFirst(name.count + 2)
        }
        return try (
            value("State").hasPrefix("S"), #require(Int(value("voluntary_ctxt_switches")))
        )
    }

    @Test func `a frame of which the peer took nothing is told from one that was cut off`() throws {
        let (server, client) = try connected()
        let long = Frame(message: [UInt8](repeating: 0, count: 4 * 1024 * 1024), secrets: nil)
        let sending = Background { try client.send(long) }
        while !server.hasUnread { usleep(1000) }
        server.shutDown()
        #expect(throws: SocketError.system(EPIPE)) { try sending.value() }
        #expect(throws: SocketError.closed) { try client.send(long) }
        #expect(throws: SocketError.closed) { try client.send(Frame(message: [1], secrets: nil)) }
    }

    @Test func `frames of one socket are of the peer of another`() throws {
        let path = path
        let program = Background { try ClientConnection(path: path, requiredPeer: nil) }
        let original = try listener.accept()
        let (ours, theirs) = try RawPeer.pair()
        let server = try ServerConnection(ours, peerOf: original)
        #expect(server.peer == .own)
        #expect(server.process?.id == getpid())
        #expect(server.peerGroups()?.first == getegid())
        try server.greet()
        let client = try ClientConnection(over: theirs.descriptor, greetedWithin: .seconds(20))
        try client.send(Frame(message: [1], secrets: nil))
        #expect(try server.receive(.request).content == [[1], []])
        try server.send(Frame(message: [2], secrets: nil))
        #expect(try client.receive(.answer, within: .seconds(20)).content == [[2], []])
        // The program's own connection heard nothing of it.
        try ServerConnection(original).greet()
        _ = try program.value()
    }

    /// The first forgery of the design: a child connects and becomes another program, its parent
    /// speaks on the descriptor that they share.
    @Test func `a parent cannot speak for its child`() throws {
        let (server, child) = try connection(
            of: Python.frames + """
                s = socket.socket(socket.AF_UNIX)
                said, says = os.pipe()
                if os.fork() == 0:
                    s.connect(sys.argv[1])
                    os.write(says, s.recv(24, socket.MSG_WAITALL))
                    os.execv("/bin/sleep", ["sleep", "30"])
                nonce = os.read(said, 24)[8:]
                s.sendall(frame(nonce, 1, b"hello"))
                s.recv(1)
                """)
        #expect(server.peer.pid != child.id)
        #expect(throws: SocketError.foreignSender) { try server.receive(.request) }
        kill(server.peer.pid, SIGKILL)
    }

    @Test func `a child cannot speak for its parent`() throws {
        let (server, child) = try connection(
            of: Python.frames + """
                s, nonce = hello(sys.argv[1])
                if os.fork() == 0:
                    s.sendall(frame(nonce, 1, b"hello"))
                    os._exit(0)
                s.recv(1)
                """)
        #expect(server.peer.pid == child.id)
        #expect(throws: SocketError.foreignSender) { try server.receive(.request) }
    }

    @Test func `no other process joins in after the first frame`() throws {
        let (server, child) = try connection(
            of: Python.frames + """
                s, nonce = hello(sys.argv[1])
                s.sendall(frame(nonce, 1, b"mine"))
                if os.fork() == 0:
                    s.sendall(frame(nonce, 2, b"not mine"))
                    os._exit(0)
                s.recv(1)
                """)
        #expect(try server.receive(.request).message == Array("mine".utf8))
        #expect(throws: SocketError.foreignSender) { try server.receive(.request) }
        withExtendedLifetime(child) {}
    }

    @Test func `what was recorded on one connection means nothing on another`() throws {
        let (first, child) = try connection(
            of: Python.frames + """
                s, nonce = hello(sys.argv[1])
                s.sendall(frame(nonce, 1, b"hello"))
                t, other = hello(sys.argv[1])
                t.sendall(frame(nonce, 1, b"hello"))
                s.recv(1)
                """)
        #expect(try first.receive(.request).message == Array("hello".utf8))
        let second = try greeted()
        #expect(throws: SocketError.malformed) { try second.receive(.request) }
        withExtendedLifetime(child) {}
    }

    @Test func `a peer can send no descriptor where the kernel refuses them`() throws {
        let (server, child) = try connection(
            of: Python.frames + """
                s, nonce = hello(sys.argv[1])
                reads, writes = os.pipe()
                try:
                    socket.send_fds(s, [frame(nonce, 1, b"hello")], [writes] * 3)
                    refused = False
                except PermissionError:
                    refused = True
                    s.sendall(b"x" * 40)
                os.close(writes)
                s.recv(1)
                # 83 is SO_PASSRIGHTS.
                try:
                    knows = s.getsockopt(socket.SOL_SOCKET, 83) == 1
                except OSError:
                    knows = False
                # Ends only when no process holds the other end any more.
                sys.exit(0 if os.read(reads, 1) == b"" and refused == knows else 1)
                """)
        // It is heard no further, whether the kernel refused it or not.
        #expect(throws: SocketError.malformed) { try server.receive(.request) }
        server.shutDown()
        #expect(child.status() == ExitStatus(code: 0))
    }

    @Test func `a hang-up is seen without reading`() throws {
        let (server, child) = try connection(
            of: Python.frames + """
                s, nonce = hello(sys.argv[1])
                s.sendall(frame(nonce, 1, b"first") + frame(nonce, 2, b"second"))
                s.recv(1)
                """)
        #expect(try server.receive(.request).message == Array("first".utf8))
        #expect(!server.peerHungUp())
        child.end()
        #expect(server.peerHungUp())
        #expect(try server.receive(.request).message == Array("second".utf8))
    }

    @Test func `shutting down wakes the thread that waits`() throws {
        let (server, client) = try connected()
        let waiting = Background { try server.receive(.request).message }
        server.shutDown()
        #expect(throws: SocketError.closed) { try waiting.value() }
        #expect(client.peerHungUp())
    }

    @Test func `a server of another user is refused`() throws {
        let path = path
        let user = geteuid() + 1
        #expect(throws: SocketError.peerNotAllowed) {
            try ClientConnection(path: path, requiredPeer: user)
        }
    }

    @Test func `a server that never greets is given up`() throws {
        let path = path
        #expect(throws: SocketError.timedOut) {
            try ClientConnection(path: path, requiredPeer: nil, greetedWithin: .milliseconds(100))
        }
    }

    @Test func `a greeting that is no longer wanted is not waited for`() throws {
        let path = path
        #expect(throws: SocketError.closed) {
            try ClientConnection(path: path, requiredPeer: nil, greetedWithin: .seconds(60)) {
                shutDown, wait throws(SocketError) in
                shutDown()
                try wait()
            }
        }
    }

    @Test func `a server that has just been started is waited for`() throws {
        let path = path
        let client = Background { try ClientConnection(path: path, requiredPeer: nil).serverUser }
        let connection = try ServerConnection(try listener.accept())
        usleep(2_500_000)
        try connection.greet()
        #expect(try client.value() == geteuid())
    }

    @Test func `a server that greets otherwise is none of ours`() throws {
        let path = path
        let client = Background { try ClientConnection(path: path, requiredPeer: nil).serverUser }
        let server = RawPeer(try listener.accept())
        server.say([UInt8](repeating: 0x41, count: Hello.byteCount))
        #expect(throws: SocketError.malformed) { try client.value() }
    }

    /// A hello of another version may be shorter than ours.
    @Test(arguments: [
        (Array("KCHELLO2".utf8), SocketError.newer), (Array("KCHELLO9".utf8), .newer),
    ])
    func `a server of another version is told from one that is none of ours`(
        head: [UInt8], error: SocketError
    ) throws {
        let path = path
        let client = Background { try ClientConnection(path: path, requiredPeer: nil).serverUser }
        let server = RawPeer(try listener.accept())
        server.say(head)
        #expect(throws: error) { try client.value() }
        withExtendedLifetime(server) {}
    }

    @Test func `versions before and after ours have a name, and 0 was never one`() {
        #expect(SocketError(peerOf: 3, readerOf: 3) == nil)
        #expect(SocketError(peerOf: 4, readerOf: 3) == .newer)
        #expect(SocketError(peerOf: 2, readerOf: 3) == .older)
        #expect(SocketError(peerOf: 0, readerOf: 3) == .malformed)
    }
}
