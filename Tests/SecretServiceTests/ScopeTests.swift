// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
@testable internal import SecretService
internal import Testing

/// As where no daemon runs.
private final class NoKeychain: KeychainEndpoint {
    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer { throw .failed(.notAvailable) }
}

@Suite struct ScopeTests {
    private func scope(of groups: [String]) -> Scope {
        Scope(
            keychains: EmbeddedPeers(NoKeychain()),
            peer: IntroducedPeer(handle: 1, groups: groups),
            memory: MemoryCollection(isShared: true), exchange: ReadyExchange(), transfer: nil,
            window: nil, context: nil, cancellation: nil, standIns: [:])
    }

    @Test func `programs are told of a change that own the item's group`() {
        let program = scope(of: ["family", "exe:/a"])
        #expect(program.groupToTell(ofItemsIn: "family") == "family")
        #expect(program.groupToTell(ofItemsIn: "exe:/a") == "exe:/a")
    }

    @Test func `of an item whose group is another's or not known, the program alone is told`() {
        for group in ["exe:/b", nil] {
            #expect(scope(of: ["family", "exe:/a"]).groupToTell(ofItemsIn: group) == "exe:/a")
            #expect(scope(of: ["exe:/a"]).groupToTell(ofItemsIn: group) == "exe:/a")
        }
        #expect(scope(of: []).groupToTell(ofItemsIn: "bus:unidentified") == nil)
    }

    @Test func `an item in memory is of the group of new items`() throws {
        let program = scope(of: ["family", "exe:/a"])
        let new = NewSecretItem(
            label: "", pairs: [:], contentType: "",
            secret: HeldSecret(SecretBytes(copying: [1])), replaces: false)
        let added = try program.items(in: .memory).add(new)
        #expect(program.groupToTell(of: added.item, in: .memory) == "family")
    }
}
