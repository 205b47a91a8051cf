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

    init(for programs: [String]) throws {
        folder = try ScratchFolder()
        path = folder("broker.sock")
        // As systemd passes it.
        own = try Listener(recordsAt: path, mode: 0o600)
        listener = try #require(Listener.inheritedRecords(dup(own.number)))
        let server = BrokerServer(listener, for: programs)
        serving = Background { server.run() }
        looks = BrokerLooks(path: path) { [told] in told.note($0) }
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

    private func broker() throws -> Broker {
        // As keychain-worker is, which stands second.
        try Broker(for: ["/usr/sbin/keychaind", try #require(InstalledProgram.ownPath())])
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

    @Test func `no other program than keychaind and its workers is served`() throws {
        let broker = try Broker(
            for: ["/usr/sbin/keychaind", "/usr/libexec/keychain/keychain-worker"])
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
        #expect(broker.told.all.first?.contains("keychain-broker, on \(broker.path)") == true)
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

    @Test func `a broker that hangs delays what is to come at once by a second, and once`() throws {
        let folder = try ScratchFolder()
        let hung = try Listener(recordsAt: folder("broker.sock"), mode: 0o600)
        let looks = BrokerLooks(path: folder("broker.sock")) { _ in }
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
            let connection = try RecordConnection(path: broker.path)
            // The last one is to come with a process.
            try connection.send(bytes, passing: [])
            #expect(throws: SocketError.closed) { _ = try connection.receivePassed(limit: 100) }
        }
    }
}
