// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

extension Listener {
    private static let stackBytes = 512 * 1024

    /// Serves each connection that `limits` admits in a thread of its own; returns when the
    /// listener is shut down. This thread waits for nothing but connections: all slow work belongs
    /// in the connection's thread.
    func serve(
        _ limits: ConnectionLimits,
        _ welcome: @escaping @Sendable (Descriptor, ConnectionLimits.Place) -> Void
    ) {
        while true {
            let descriptor: Descriptor
            do { descriptor = try accept() } catch {
                if error == .closed { return }
                continue
            }
            guard let peer = try? PeerCredentials(of: descriptor), let place = limits.begin(peer)
            else { continue }
            let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) {
                defer { place.end() }
                welcome(descriptor, place)
            }
            if !hasBegun { place.end() }
        }
    }
}
