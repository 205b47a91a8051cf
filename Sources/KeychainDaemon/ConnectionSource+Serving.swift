// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

extension ConnectionSource {
    private static var stackBytes: Int { 512 * 1024 }

    /// Serves each connection that `limits` admits in a thread of its own; returns when the source is
    /// shut down. This thread waits for nothing but connections: all slow work belongs in the
    /// connection's thread.
    func serve(
        _ limits: ConnectionLimits, _ welcome: @escaping @Sendable (IncomingConnection) -> Void
    ) {
        while true {
            let connection: IncomingConnection
            do { connection = try next() } catch {
                if error == .closed { return }
                continue
            }
            guard let peer = try? PeerCredentials(of: connection.descriptor),
                let place = limits.begin(peer)
            else { continue }
            _ = DetachedThread.start(stackBytes: Self.stackBytes) {
                welcome(connection)
                withExtendedLifetime(place) {}
            }
        }
    }
}
