// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import Synchronization
import SystemTestSupport
import Testing

@testable import ProcessBroker

private final class Said: Sendable {
    private let words = Mutex<[String]>([])

    var all: [String] { words.withLock { $0 } }
    func note(_ more: String) { words.withLock { $0.append(more) } }
}

/// Both ends, in this process.
private final class Broker {
    let looks: BrokerLooks
    let told = Said()
    let path: String
    private let folder: ScratchFolder
    private let own: Listener
    private let listener: Listener
    private var serving: Background<Void>?

    /// A broker that hears the program, and a worker of the user's.
    init(for program: String, user: UInt32 = 0) throws {
        folder = try ScratchFolder()
        path = folder("broker.sock")
        // As systemd passes it.
        own = try Listener(recordsAt: path, mode: 0o600)
        listener = try #require(Listener.inheritedRecords(dup(own.number)))
        let server = BrokerServer(listener, for: program)
        serving = Background { server.run() }
        looks = BrokerLooks(
            connect: { [path] () throws(SocketError) in try Self.bound(path, user) },
            log: { [told] in told.note($0) })
    }

    /// As keychaind makes it.
    static func bound(_ path: String, _ user: UInt32) throws(SocketError) -> RecordConnection {
        let connection = try RecordConnection(path: path)
        try connection.send(BrokerBinding.request(user), passing: [])
        let reply = try connection.receive(limit: 64, deadlineSeconds: 2)
        guard BrokerBinding.isDone(reply) else { throw .peerNotAllowed }
        return connection
    }

    func stop() {
        listener.shutDown()
        own.shutDown()
        try? serving.take()?.value()
    }

    deinit { stop() }
}

@Suite(.enabled(if: geteuid() == 0, "only root's programs are served"))
struct BrokerTests {
    private func sleeper() throws -> (child: ChildProcess, process: PinnedProcess) {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["60"], environment: [], passing: [],
            newSession: true)
        return (child, try #require(PinnedProcess(pid: child.id, pidfd: nil)))
    }

    private func broker(of user: UInt32 = 0) throws -> Broker {
        try Broker(for: try #require(InstalledProgram.ownPath()), user: user)
    }

    /// A process with these numbers.
    private func running(
        _ real: UInt32, _ effective: UInt32
    ) throws -> (program: Python, process: PinnedProcess) {
        let program = try Python(
            "import os, time; os.setresuid(\(real), \(effective), \(effective)); time.sleep(60)")
        let process = try #require(PinnedProcess(pid: program.id, pidfd: nil))
        for _ in 0..<1000
        where process.credentials()?.realUser != real
            || process.credentials()?.effectiveUser != effective
        { Wait.pause(milliseconds: 10) }
        return (program, process)
    }

    @Test func `a look by the broker tells what a look with own rights does`() throws {
        let broker = try broker()
        let (child, process) = try sleeper()
        let look = try #require(broker.looks.program(of: process))
        let own = ProgramLook(at: process)
        #expect(look.executable == own.executable && look.path == own.path)
        #expect(look.isAtItsPath == own.isAtItsPath && look.isTrusted == own.isTrusted)
        #expect(look.isInOurNamespaces == own.isInOurNamespaces && look.rights == own.rights)
        #expect(broker.looks.path(of: child.id) == own.path)
        #expect(
            broker.looks.openExecutable(of: process)?.version
                == OwnLooks().openExecutable(of: process)?.version)
        #expect(broker.looks.sandboxFile(of: process) == nil)
        let image = try #require(look.image)
        #expect(image.lasts)
        child.kill()
        #expect(!image.lasts)
        #expect(broker.looks.program(of: process)?.image == nil)
        #expect(broker.looks.path(of: child.id) == nil)
        #expect(broker.looks.openExecutable(of: process) == nil)
    }

    @Test func `a user's worker looks at that user's processes alone`() throws {
        let broker = try broker(of: 1000)
        let users: [[UInt32]] = [
            [1000, 1000], [1000, 1001], [1001, 1000], [1001, 1001], [0, 1000], [1000, 0],
            [1001, 0],
        ]
        for both in users {
            let (real, effective) = (both[0], both[1])
            let (program, process) = try running(real, effective)
            defer { program.end() }
            let isOwn = both == [1000, 1000]
            #expect((broker.looks.program(of: process) != nil) == isOwn, "\(real) \(effective)")
            #expect((broker.looks.openExecutable(of: process) != nil) == isOwn)
            let hasPath = isOwn || effective == 0
            #expect((broker.looks.path(of: program.id) != nil) == hasPath, "\(real) \(effective)")
        }
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        #expect(broker.looks.program(of: own) == nil)
        #expect(broker.looks.path(of: getpid()) != nil)
        func finding(_ user: UInt32) -> SharedTerminal.Finding {
            broker.looks.otherReader(of: SharedTerminal(device: 34816, session: 1, user: user))
        }
        #expect(finding(1001) == .unknown && finding(0) == .unknown)
        #expect(finding(1000) != .unknown)
        #expect(broker.told.all == [])
    }

    @Test func `root's worker looks at all processes`() throws {
        let broker = try broker()
        let (program, process) = try running(1000, 1001)
        defer { program.end() }
        #expect(broker.looks.program(of: process)?.path != nil)
    }

    @Test func `a connection serves nothing before it is bound, and is bound once`() throws {
        let broker = try broker()
        func end(_ connection: RecordConnection, _ request: LookRequest) throws {
            try connection.send(request.bytes, passing: [])
            #expect(throws: SocketError.closed) { _ = try connection.receivePassed(limit: 100) }
        }
        try end(try RecordConnection(path: broker.path), .path(getpid()))
        let bound = try Broker.bound(broker.path, 1000)
        try bound.send(LookRequest.path(getpid()).bytes, passing: [])
        let (reply, _) = try bound.receivePassed(limit: LookReply.longest)
        #expect(try LookReply(reply) != .nothing)
        try end(bound, .bind(user: 1001))
        try end(try Broker.bound(broker.path, 1000), .bind(user: 1000))
    }

    @Test func `no other program than keychaind is heard`() throws {
        let broker = try Broker(for: "/usr/sbin/keychaind")
        let (child, process) = try sleeper()
        defer { child.kill() }
        #expect(broker.looks.program(of: process) == nil)
        #expect(broker.looks.path(of: child.id) == nil)
        let terminal = SharedTerminal(device: 34816, session: 42, user: 1)
        #expect(broker.looks.otherReader(of: terminal) == .unknown)
    }

    @Test func `a broker that ended does not answer, and its log says so once`() throws {
        let broker = try broker()
        let (child, process) = try sleeper()
        defer { child.kill() }
        broker.stop()
        for _ in 0..<3 { #expect(broker.looks.program(of: process) == nil) }
        #expect(broker.told.all.count == 1)
        #expect(broker.told.all.first?.contains("keychain-broker does not answer") == true)
    }

    @Test func `no look leaves a descriptor behind`() throws {
        let broker = try broker()
        let (child, process) = try sleeper()
        defer { child.kill() }
        func descriptors() -> Int { FolderNames.all(in: "/proc/self/fd").count }
        func look() {
            _ = broker.looks.program(of: process)
            _ = broker.looks.openExecutable(of: process)
            _ = broker.looks.sandboxFile(of: process)
            _ = broker.looks.path(of: child.id)
        }
        look()
        let before = descriptors()
        for _ in 0..<200 { look() }
        // Other tests open some at the same time.
        #expect(descriptors() < before + 150)
    }

    @Test func `a broker that hangs delays what is to come at once by seconds, and once`() throws {
        let folder = try ScratchFolder()
        let hung = try Listener(recordsAt: folder("broker.sock"), mode: 0o600)
        let path = folder("broker.sock")
        let looks = BrokerLooks(
            connect: { () throws(SocketError) in try Broker.bound(path, 0) }, log: { _ in })
        let began = ContinuousClock.now
        for _ in 0..<50 { #expect(looks.path(of: getpid()) == nil) }
        #expect(began.duration(to: .now) < .seconds(20))
        withExtendedLifetime(hung) {}
    }

    @Test func `many looks at once are all answered`() throws {
        let broker = try broker()
        let (child, process) = try sleeper()
        defer { child.kill() }
        let looks = broker.looks
        let path = try #require(looks.path(of: child.id))
        let all = (0..<40).map { _ in
            Background { (0..<20).allSatisfy { _ in looks.program(of: process)?.path == path } }
        }
        for one in all { #expect(try one.value()) }
    }

    @Test func `what is no request ends the connection, and is not answered`() throws {
        let broker = try broker()
        for bytes in [[UInt8](repeating: 0, count: 24), [1, 2, 3], LookRequest.program.bytes] {
            let connection = try Broker.bound(broker.path, 0)
            // The last one is to come with a process.
            try connection.send(bytes, passing: [])
            #expect(throws: SocketError.closed) { _ = try connection.receivePassed(limit: 100) }
        }
    }
}
