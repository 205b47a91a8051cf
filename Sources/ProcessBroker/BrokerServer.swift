// SPDX-License-Identifier: Apache-2.0
internal import CPeer
internal import KeychainLinuxSystem
package import KeychainLocalSocket
internal import Synchronization

/// Makes the looks that keychaind and its workers ask for, and serves no other program. Each connection
/// has a thread, since the file system of a program's file can take as long as it likes.
package final class BrokerServer: Sendable {
    private static let stackBytes = 256 * 1024
    /// As many as keychaind and its workers have connections of their own, and more.
    private static let mostConnections = 1024

    private let listener: Listener
    private let programs: [String]
    private let looks = OwnLooks()
    private let connections = Mutex(0)

    /// `programs` are the paths of the installed programs that are served.
    package init(_ listener: Listener, for programs: [String]) {
        self.listener = listener
        self.programs = programs
    }

    /// Returns when the listener is shut down.
    package func run() {
        while true {
            let descriptor: Descriptor
            do { descriptor = try listener.accept() } catch {
                if error == .closed { return }
                continue
            }
            guard isServed(descriptor), begin() else { continue }
            let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
                serve(descriptor)
                end()
            }
            if !hasBegun { end() }
        }
    }

    private func isServed(_ descriptor: Descriptor) -> Bool {
        // Safe: reads the path, and what the kernel says of the connection's peer.
        programs.contains { unsafe kc_peer_runs(descriptor.number, $0) }
    }

    private func begin() -> Bool {
        connections.withLock { connections in
            guard connections < Self.mostConnections else { return false }
            connections += 1
            return true
        }
    }

    private func end() { connections.withLock { $0 -= 1 } }

    private func serve(_ descriptor: Descriptor) {
        guard let connection = try? RecordConnection(accepted: descriptor) else { return }
        while let (bytes, passed) = try? connection.receivePassed(limit: LookRequest.byteCount),
            let request = try? LookRequest(bytes), request.hasProcess == (passed != nil)
        {
            let (reply, file) = look(request, passed.flatMap(PinnedProcess.init(passed:)))
            guard (try? connection.send(reply.bytes, passing: file.map { [$0] } ?? [])) != nil
            else { return }
        }
    }

    /// `process` is nil where the request has none, or it has ended.
    private func look(
        _ request: LookRequest, _ process: PinnedProcess?
    ) -> (LookReply, Descriptor?) {
        switch request {
        case .path(let id):
            // Bytes that are no text make a longer one.
            let path = looks.path(of: id).flatMap { LookReply.holds($0) ? $0 : nil }
            return (path.map { .path($0) } ?? .nothing, nil)
        case .otherReader(let device, let session, let user):
            let terminal = SharedTerminal(device: device, session: session, user: user)
            return (.finding(looks.otherReader(of: terminal)), nil)
        case .program:
            guard let look = process.flatMap(looks.program) else { return (.nothing, nil) }
            return (.program(LookReply.Program(look)), look.image?.descriptor)
        case .executable:
            return Self.passing(process.flatMap(looks.openExecutable)?.descriptor)
        case .sandboxFile:
            return Self.passing(process.flatMap(looks.sandboxFile)?.descriptor)
        }
    }

    private static func passing(_ file: Descriptor?) -> (LookReply, Descriptor?) {
        file == nil ? (.nothing, nil) : (.file, file)
    }
}
