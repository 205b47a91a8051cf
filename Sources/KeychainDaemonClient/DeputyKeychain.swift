// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainMessages
package import KeychainModel
internal import Synchronization

/// The daemon's keychains for the programs that a deputy makes requests for: each is introduced
/// once, by its process, and referred to afterwards (docs/design/identity.md, Relayed programs).
///
/// The daemon forgets peers when it restarts, has too many, or has not heard from the deputy for a
/// while. They are then introduced again, under the same handles here.
package final class DeputyKeychain: Sendable {
    private let keychain: RemoteKeychain
    private let peers = Mutex<[UInt64: IntroducedPeer]>([:])

    package init(socket: String) { keychain = RemoteKeychain(socket: socket) }

    /// Throws `.refused(.notEntitled)` where this program is no deputy, the process has ended, or
    /// is another user's.
    ///
    /// - Parameter process: a descriptor of the process (pidfd), kept until the peer is forgotten.
    /// - Parameter heardOf: when the program's connection was first heard of, in nanoseconds of
    ///   CLOCK_BOOTTIME; nil where the bus gave the descriptor (`ProcessFD`).
    package func introduce(
        _ process: Descriptor, heardOf: UInt64?
    ) throws(RequestError) -> RelayedPeer {
        try introduce(process, Introduce(heardOf: heardOf))
    }

    /// Introduces an application that a peer makes requests for. Throws `.refused(.notEntitled)`
    /// where the peer is not the desktop's portal.
    package func introduce(
        _ application: PortalApplication, by portal: RelayedPeer
    ) throws(RequestError) -> RelayedPeer {
        guard let portal = peers.withLock({ $0[portal.handle] }) else {
            throw .state(.noSuchPeer)
        }
        return try introduce(
            portal.process, Introduce(heardOf: portal.introduction.heardOf, for: application))
    }

    private func introduce(
        _ process: Descriptor, _ introduction: Introduce
    ) throws(RequestError) -> RelayedPeer {
        let introduced = try keychain.introduce(introduction, process)
        let peer = IntroducedPeer(introduction, process, introduced.handle)
        peers.withLock { $0[introduced.handle] = peer }
        return introduced
    }

    /// Waits a while for changes since the position that other programs than this deputy's have
    /// made.
    package func changes(after position: UInt64?) throws(RequestError) -> KeychainChanges {
        try keychain.send(WatchKeychains(after: position), in: nil, relay: nil, cancellation: nil)
    }

    /// Forgets a program that has left the bus.
    package func forget(_ peer: RelayedPeer) {
        guard let known = peers.withLock({ $0.removeValue(forKey: peer.handle) }) else { return }
        // A daemon that is not running knows no peer either.
        _ = try? keychain.send(
            ForgetPeer(known.handle), in: nil, relay: nil, cancellation: nil)
    }

    /// Sends a verb that asks the user nothing, and leaves its answer for later; nil where
    /// `endpoint` must send it. A daemon that does not know the peer any more refuses
    /// (`.state(.noSuchPeer)`): `endpoint` then introduces it again.
    package func begin<V: Verb>(
        _ verb: V, for peer: RelayedPeer, transfer: Relay.Transfer?,
        in context: AuthenticationContext?
    ) -> PendingAnswer<V>? {
        guard let known = peers.withLock({ $0[peer.handle] }) else { return nil }
        return keychain.begin(
            verb, in: context, relay: Relay(peer: known.handle, transfer: transfer))
    }

    /// The keychains as the peer may use them. No verb offers a terminal or an authentication
    /// context of the deputy's: both are the peer's, which the daemon knows.
    package func endpoint(
        for peer: RelayedPeer, transfer: Relay.Transfer?, over window: XWindow?
    ) -> any KeychainEndpoint {
        RelayedKeychain(
            keychain, peers.withLock { $0[peer.handle] }, transfer: transfer, window: window)
    }
}

/// A peer, and what is needed to introduce it again.
private final class IntroducedPeer: Sendable {
    let introduction: Introduce
    let process: Descriptor
    private let current: Mutex<UInt64>

    init(_ introduction: Introduce, _ process: Descriptor, _ handle: UInt64) {
        self.introduction = introduction
        self.process = process
        current = Mutex(handle)
    }

    /// The latest handle that the daemon gave.
    var handle: UInt64 {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// The daemon's keychains for one peer.
private final class RelayedKeychain: KeychainEndpoint {
    private let keychain: RemoteKeychain
    /// nil for a peer that was forgotten.
    private let peer: IntroducedPeer?
    private let transfer: Relay.Transfer?
    private let window: XWindow?

    init(
        _ keychain: RemoteKeychain, _ peer: IntroducedPeer?, transfer: Relay.Transfer?,
        window: XWindow?
    ) {
        self.keychain = keychain
        self.peer = peer
        self.transfer = transfer
        self.window = window
    }

    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        guard let peer else { throw .state(.noSuchPeer) }
        let handle = peer.handle
        do throws(RequestError) {
            return try send(verb, for: handle, context, cancellation)
        } catch { guard error == .state(.noSuchPeer) else { throw error } }
        // The daemon has done nothing for a peer that it does not know.
        let again = try keychain.introduce(peer.introduction, peer.process).handle
        peer.handle = again
        return try send(verb, for: again, context, cancellation)
    }

    private func send<V: Verb>(
        _ verb: V, for handle: UInt64, _ context: AuthenticationContext?,
        _ cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        try keychain.send(
            verb, in: context, relay: Relay(peer: handle, transfer: transfer, window: window),
            cancellation: cancellation)
    }
}

extension RemoteKeychain {
    fileprivate func introduce(
        _ introduction: Introduce, _ process: Descriptor
    ) throws(RequestError) -> RelayedPeer {
        try send(introduction, in: nil, relay: nil, passing: process, cancellation: nil)
    }
}
