// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainMessages
package import KeychainModel

/// The keychain as each program on the bus sees it.
package protocol PeerKeychains: Sendable {
    /// Whether programs are introduced. Where not, all that ask are one program to the keychain.
    var tellsPeersApart: Bool { get }
    /// Whether a user may be asked at all: a terminal that this process may have is no peer's.
    var mayAsk: Bool { get }

    /// Has the keychain find out who a process is. `heardOf` is when its connection was there at the
    /// latest: nanoseconds since the machine's start, sleep counted; nil where the bus itself gave the
    /// descriptor.
    func introduce(
        _ process: Descriptor, heardOf: UInt64?
    ) throws(RequestError) -> IntroducedPeer

    /// The same of an application for which a peer asks; refused where that is not the desktop's portal.
    func introduce(
        _ application: PortalApplication, by portal: IntroducedPeer
    ) throws(RequestError) -> IntroducedPeer

    /// The program has left the bus.
    func forget(_ peer: IntroducedPeer)

    /// `transfer` is how secrets of the call travel on the bus; nil where none do. `window` is the one
    /// over which the peer wants questions.
    func endpoint(
        of peer: IntroducedPeer, transfer: Transfer?, over window: XWindow?
    ) -> any KeychainEndpoint

    /// Sends a verb that asks no user, and waits for nothing; nil where nothing was sent, and it must
    /// go by `endpoint`, which does the same.
    func begin<V: Verb>(
        _ verb: V, of peer: IntroducedPeer, transfer: Transfer?, in context: AuthenticationContext?
    ) -> BegunRequest<V>?

    /// Waits for what others change in the keychains; nil where that can't be known.
    func changes(after position: UInt64?) throws(RequestError) -> KeychainChanges?
}

extension PeerKeychains {
    package func begin<V: Verb>(
        _ verb: V, of peer: IntroducedPeer, transfer: Transfer?, in context: AuthenticationContext?
    ) -> BegunRequest<V>? { nil }
}

/// A request whose answer is yet to come.
package struct BegunRequest<V: Verb>: Sendable {
    /// Readable once the answer begins to come.
    let descriptor: Int32
    /// Asked once the descriptor is readable: whether `take` waits for nothing.
    let isWhole: @Sendable () -> Bool
    let take: @Sendable () throws(RequestError) -> V.Answer

    package init(
        descriptor: Int32, isWhole: @escaping @Sendable () -> Bool,
        take: @escaping @Sendable () throws(RequestError) -> V.Answer
    ) {
        self.descriptor = descriptor
        self.isWhole = isWhole
        self.take = take
    }
}

/// A program on the bus, as the keychain knows it.
package struct IntroducedPeer: Sendable, Hashable {
    /// What the keychain gave for it, for as long as its connection lives.
    package let handle: UInt64
    /// Its own groups; none for a program that can't be told.
    package let groups: [String]

    package init(handle: UInt64, groups: [String]) {
        self.handle = handle
        self.groups = groups
    }

    /// The group of its new items.
    var group: String? { groups.first }
}

/// How secrets travel on the bus.
package enum Transfer: Sendable {
    /// Every monitor of the bus reads them.
    case plain
    case encrypted
}

/// The keychain in the own process: one group for all that ask.
package struct EmbeddedPeers: PeerKeychains {
    private let keychain: any KeychainEndpoint

    package init(_ keychain: any KeychainEndpoint) { self.keychain = keychain }

    package var tellsPeersApart: Bool { false }
    package var mayAsk: Bool { false }

    package func introduce(
        _ process: Descriptor, heardOf: UInt64?
    ) throws(RequestError) -> IntroducedPeer {
        IntroducedPeer(handle: 0, groups: [])
    }

    /// One group for all would be one for all applications.
    package func introduce(
        _ application: PortalApplication, by portal: IntroducedPeer
    ) throws(RequestError) -> IntroducedPeer { throw .refused(.notEntitled) }

    package func forget(_ peer: IntroducedPeer) {}

    package func endpoint(
        of peer: IntroducedPeer, transfer: Transfer?, over window: XWindow?
    ) -> any KeychainEndpoint { keychain }

    /// Other processes write the same files, and tell nothing.
    package func changes(after position: UInt64?) -> KeychainChanges? { nil }
}
