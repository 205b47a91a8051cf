// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

extension Listener {
    private static let stackBytes = 512 * 1024

    /// A thread for each connection that `limits` has a place for; returns when the listener is shut
    /// down. Here nothing waits for anything but a connection: what may take its time is done in the
    /// connection's own thread.
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
