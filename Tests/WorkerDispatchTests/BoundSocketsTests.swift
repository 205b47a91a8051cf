// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import SystemTestSupport
import Testing

@testable import WorkerDispatch

/// What keychaind says to keychain-broker or keychain-starter before a worker has the connection,
/// with the test at the other end. The peer must be root's.
@Suite(.enabled(if: geteuid() == 0, "only root's sockets are believed"))
struct BoundSocketsTests {
    private let folder: ScratchFolder
    private let listener: Listener
    private let sockets: BoundSockets

    init() throws {
        folder = try ScratchFolder()
        listener = try Listener(recordsAt: folder("socket"), mode: 0o600)
        sockets = BoundSockets(
            path: folder("socket"), request: { [7, UInt8($0)] }, isDone: { $0 == [1] })
    }

    /// Replies with these bytes, then with what comes.
    private func server(_ reply: [UInt8]) -> Background<[UInt8]> {
        Background { [listener] in
            let connection = try RecordConnection(accepted: try listener.accept())
            let (request, _) = try connection.receivePassed(limit: 8)
            try connection.send(reply, passing: [])
            guard let (more, _) = try? connection.receivePassed(limit: 8) else { return request }
            try connection.send(more, passing: [])
            return request
        }
    }

    @Test func `a connection is given once it is the user's`() throws {
        let server = server([1])
        let connection = RecordConnection(try sockets.connection(for: 42))
        try connection.send([5, 6], passing: [])
        #expect(try connection.receive(limit: 8, deadlineSeconds: 20) == [5, 6])
        #expect(try server.value() == [7, 42])
    }

    @Test func `one that is refused is none`() throws {
        let server = server([2])
        #expect(throws: SocketError.peerNotAllowed) { try sockets.connection(for: 42) }
        #expect(try server.value() == [7, 42])
    }

    @Test func `what does not answer is waited for two seconds`() {
        let began = ContinuousClock.now
        #expect(throws: SocketError.timedOut) { try sockets.connection(for: 42) }
        #expect(began.duration(to: .now) < .seconds(20))
    }
}
