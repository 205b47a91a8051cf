// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

struct ListenerTests {
    private let folder: ScratchFolder
    private var path: String { folder("socket") }

    init() throws { folder = try ScratchFolder() }

    private func connect() throws -> Descriptor {
        try SocketAddress.connect(path, .now + .seconds(1))
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func `the socket has the mode asked for and nothing else is left`(wanted: UInt32) throws {
        let listener = try Listener(path: path, mode: wanted)
        #expect(mode(of: path) == UInt32(S_IFSOCK) | wanted)
        #expect(folder.names == ["socket"])
        withExtendedLifetime(listener) {}
    }

    @Test func `a socket in use is left alone`() throws {
        let first = try Listener(path: path, mode: 0o600)
        #expect(throws: SocketError.addressInUse) { try Listener(path: path, mode: 0o666) }
        #expect(mode(of: path) == UInt32(S_IFSOCK) | 0o600)
        #expect(folder.names == ["socket"])
        let client = try connect()
        _ = try first.accept()
        withExtendedLifetime(client) {}
    }

    @Test func `a socket whose backlog is full is in use`() throws {
        let busy = try SocketAddress.make()
        let result = unsafe try SocketAddress.withAddress(path) { address, length in
            unsafe bind(busy.number, address, length)
        }
        #expect(result == 0 && listen(busy.number, 0) == 0)
        let waiting = try connect()
        #expect(throws: SocketError.addressInUse) { try Listener(path: path, mode: 0o600) }
        #expect(mode(of: path) != nil)
        withExtendedLifetime(waiting) {}
    }

    @Test func `a socket that no process listens on is replaced`() throws {
        // Its owner ended without taking it back.
        do {
            let dead = try SocketAddress.make()
            let result = unsafe try SocketAddress.withAddress(path) { address, length in
                unsafe bind(dead.number, address, length)
            }
            #expect(result == 0)
        }
        #expect(throws: SocketError.system(ECONNREFUSED)) { try connect() }
        let listener = try Listener(path: path, mode: 0o600)
        let client = try connect()
        _ = try listener.accept()
        withExtendedLifetime(client) {}
    }

    @Test func `a file of another kind is left alone`() throws {
        let file = folder.write("socket", "precious", mode: 0o644)
        #expect(throws: SocketError.addressInUse) { try Listener(path: file, mode: 0o600) }
        #expect(mode(of: file) == UInt32(S_IFREG) | 0o644)
        #expect(folder.names == ["socket"])
    }

    @Test func `a folder is not made for it`() throws {
        let path = folder("missing/socket")
        #expect(throws: SocketError.system(ENOENT)) { try Listener(path: path, mode: 0o600) }
    }

    @Test func `a path must fit`() throws {
        let path = folder(String(repeating: "x", count: 120))
        #expect(throws: SocketError.pathTooLong) { try Listener(path: path, mode: 0o600) }
        #expect(throws: SocketError.pathTooLong) {
            try Listener(path: folder("a\0b"), mode: 0o600)
        }
    }

    @Test func `shutting down wakes accept and takes the path back`() throws {
        let listener = try Listener(path: path, mode: 0o600)
        let accepting = Background { try listener.accept() }
        listener.shutDown()
        #expect(throws: SocketError.closed) { try accepting.value() }
        #expect(throws: SocketError.closed) { try listener.accept() }
        #expect(folder.names.isEmpty)
    }

    @Test func `a path that became another listener's is not taken back`() throws {
        let listener = try Listener(path: path, mode: 0o600)
        #expect(unsafe unlink(path) == 0)
        let successor = try Listener(path: path, mode: 0o600)
        listener.shutDown()
        let client = try connect()
        _ = try successor.accept()
        withExtendedLifetime(client) {}
    }

    @Test func `an inherited socket outlives us`() throws {
        let maker = try SocketAddress.make()
        let result = unsafe try SocketAddress.withAddress(path) { address, length in
            unsafe bind(maker.number, address, length)
        }
        #expect(result == 0 && listen(maker.number, 8) == 0)
        let first = Listener(inherited: dup(maker.number))
        let accepting = Background { try first.accept() }
        first.shutDown()
        #expect(throws: SocketError.closed) { try accepting.value() }
        let client = try connect()
        _ = try Listener(inherited: dup(maker.number)).accept()
        withExtendedLifetime(client) {}
    }

    @Test func `no connection is passed on to programs that are started`() throws {
        let listener = try Listener(path: path, mode: 0o600)
        let client = try connect()
        let server = try listener.accept()
        #expect(fcntl(server.number, F_GETFD) == FD_CLOEXEC)
        #expect(fcntl(client.number, F_GETFD) == FD_CLOEXEC)
    }
}
