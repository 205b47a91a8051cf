// SPDX-License-Identifier: Apache-2.0
internal import KeychainDaemonClient
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import SecretService

/// The daemon's keychains, which knows this program by its group and each program on the bus by its
/// process.
struct DeputyKeychains: PeerKeychains {
    static let group = "_keychain-secrets"

    private let deputy = DeputyKeychain(socket: RemoteKeychain.defaultSocket)

    var tellsPeersApart: Bool { true }
    var mayAsk: Bool { true }

    func introduce(
        _ process: Descriptor, heardOf: UInt64?
    ) throws(RequestError) -> IntroducedPeer {
        introduced(try deputy.introduce(process, heardOf: heardOf))
    }

    func introduce(
        _ application: PortalApplication, by portal: IntroducedPeer
    ) throws(RequestError) -> IntroducedPeer {
        introduced(try deputy.introduce(application, by: relayed(portal)))
    }

    func forget(_ peer: IntroducedPeer) { deputy.forget(relayed(peer)) }

    func endpoint(
        of peer: IntroducedPeer, transfer: Transfer?, over window: XWindow?
    ) -> any KeychainEndpoint {
        deputy.endpoint(for: relayed(peer), transfer: relayed(transfer), over: window)
    }

    func begin<V: Verb>(
        _ verb: V, of peer: IntroducedPeer, transfer: Transfer?, in context: AuthenticationContext?
    ) -> BegunRequest<V>? {
        let begun = deputy.begin(
            verb, for: relayed(peer), transfer: relayed(transfer), in: context)
        return begun.map { answer in
            BegunRequest(descriptor: answer.descriptor, isWhole: { answer.isWhole() }) {
                () throws(RequestError) in try answer.take()
            }
        }
    }

    private func relayed(_ transfer: Transfer?) -> Relay.Transfer? {
        switch transfer {
        case .plain: .plain
        case .encrypted: .encrypted
        case nil: nil
        }
    }

    func changes(after position: UInt64?) throws(RequestError) -> KeychainChanges? {
        try deputy.changes(after: position)
    }

    private func introduced(_ peer: RelayedPeer) -> IntroducedPeer {
        IntroducedPeer(handle: peer.handle, groups: peer.groups)
    }

    private func relayed(_ peer: IntroducedPeer) -> RelayedPeer {
        RelayedPeer(handle: peer.handle, groups: peer.groups)
    }
}
