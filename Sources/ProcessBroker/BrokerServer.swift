// SPDX-License-Identifier: Apache-2.0
internal import CPeer
internal import KeychainLinuxSystem
package import KeychainLocalSocket
internal import Synchronization

/// Makes the looks that workers ask for, on connections that keychaind makes for them: no other
/// program is heard. Each connection has a thread, since the file system of a program's file can
/// take as long as it likes.
package final class BrokerServer: Sendable {
    private static let stackBytes = 256 * 1024
    /// Of all workers. One keeps 8, and has few more while it looks at many programs.
    private static let mostConnections = 1024
    /// Of one user's worker, so that no worker takes what others need.
    static let mostOfUser = 64

    private let listener: Listener
    private let program: String
    private let connections = Mutex(0)
    private let bound = Mutex<[UInt32: Int]>([:])

    /// `program` is the path of the installed program that is heard.
    package init(_ listener: Listener, for program: String) {
        self.listener = listener
        self.program = program
    }

    /// Returns when the listener is shut down.
    package func run() {
        while true {
            let descriptor: Descriptor
            do { descriptor = try listener.accept() } catch {
                if error == .closed { return }
                continue
            }
            guard isHeard(descriptor), begin() else { continue }
            let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
                serve(descriptor)
                end()
            }
            if !hasBegun { end() }
        }
    }

    private func isHeard(_ descriptor: Descriptor) -> Bool {
        // Safe: reads the path, and what the kernel says of the connection's peer.
        unsafe kc_peer_runs(descriptor.number, program)
    }

    private func begin() -> Bool {
        connections.withLock { connections in
            guard connections < Self.mostConnections else { return false }
            connections += 1
            return true
        }
    }

    private func end() { connections.withLock { $0 -= 1 } }

    private func begin(of user: UInt32) -> Bool {
        bound.withLock { bound in
            guard bound[user, default: 0] < Self.mostOfUser else { return false }
            bound[user, default: 0] += 1
            return true
        }
    }

    private func end(of user: UInt32) {
        bound.withLock { bound in
            bound[user, default: 0] -= 1
            if bound[user] == 0 { bound[user] = nil }
        }
    }

    /// Nothing is looked at before keychaind has said for which user: afterwards a worker has the
    /// connection.
    private func serve(_ descriptor: Descriptor) {
        guard let connection = try? RecordConnection(accepted: descriptor),
            case (.bind(let user), _)? = Self.next(on: connection), begin(of: user)
        else { return }
        defer { end(of: user) }
        guard (try? connection.send(LookReply.bound.bytes, passing: [])) != nil else { return }
        let looks = BoundLooks(of: user)
        while let (request, passed) = Self.next(on: connection),
            let (reply, file) = looks.look(request, passed.flatMap(PinnedProcess.init(passed:))),
            (try? connection.send(reply.bytes, passing: file.map { [$0] } ?? [])) != nil
        {}
    }

    /// nil where the connection ends, or with what is no request.
    private static func next(
        on connection: RecordConnection
    ) -> (request: LookRequest, passed: Descriptor?)? {
        guard let (bytes, passed) = try? connection.receivePassed(limit: LookRequest.byteCount),
            let request = try? LookRequest(bytes), request.hasProcess == (passed != nil)
        else { return nil }
        return (request, passed)
    }
}
