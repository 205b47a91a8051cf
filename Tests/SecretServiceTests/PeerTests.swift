// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
@testable internal import SecretService
internal import Testing

@Suite struct PeerTests {
    private let peer = Peer(":1.1", serial: 1, mayAsk: true)

    private func offer() -> Prompt {
        let prompt = Prompt(PromptTask(work: .createCollection(label: "x", alias: "")))
        peer.prompts[prompt.task.name] = prompt
        return prompt
    }

    @Test
    func `a prompt that is not called for goes after ten minutes, and one that stands does not`() {
        let (unused, asking) = (offer(), offer())
        asking.state = .asking
        peer.dropUnusedPrompts(now: unused.made + .seconds(599))
        #expect(peer.prompts.count == 2)
        peer.dropUnusedPrompts(now: unused.made + .seconds(601))
        #expect(Array(peer.prompts.keys) == [asking.task.name])
    }

    @Test func `it locks six times a minute`() {
        let now = ContinuousClock.now
        let locks = (0..<7).map { _ in peer.mayLock(now: now) }
        #expect(locks == [true, true, true, true, true, true, false])
        #expect(!peer.mayLock(now: now + .seconds(59)))
        #expect(peer.mayLock(now: now + .seconds(61)))
    }

    @Test func `of 65 stand-ins the first is forgotten, and one that is shown again is not new`() {
        let names = (0..<65).map { _ in ItemName.standIn() }
        func show(_ place: Int) {
            let pairs: Attributes = [.pair("a"): .string("\(place)")]
            peer.show(names[place], StandIn(keychain: "login", pairs: pairs))
        }
        for place in 0..<64 { show(place) }
        show(0)
        #expect(peer.standIns.count == 64)
        show(64)
        #expect(peer.standIns.count == 64)
        #expect(peer.standIns[names[0]] == nil && peer.standIns[names[1]] != nil)
    }

    @Test func `it is of the group of its last introduction, also while it is dormant`() {
        #expect(!peer.isOf(nil) && !peer.isOf("exe:/a"))
        peer.state = .known(IntroducedPeer(handle: 1, groups: ["exe:/a"]))
        peer.state = .dormant
        #expect(peer.isOf("exe:/a") && !peer.isOf(nil))
        peer.state = .known(IntroducedPeer(handle: 2, groups: []))
        #expect(peer.isOf(nil) && !peer.isOf("exe:/a"))
    }

    @Test func `items of all its groups are its own, the first of which counts it`() {
        #expect(!peer.owns(nil) && !peer.owns("exe:/a"))
        peer.state = .known(IntroducedPeer(handle: 1, groups: ["family", "exe:/a"]))
        #expect(peer.owns("family") && peer.owns("exe:/a"))
        #expect(!peer.owns("exe:/b") && !peer.owns(nil))
        #expect(peer.group == "family" && peer.isOf("family") && !peer.isOf("exe:/a"))
        peer.state = .known(IntroducedPeer(handle: 1, groups: []))
        #expect(peer.owns(nil) && !peer.owns("family"))
    }

    @Test func `programs of one group are alike, and so are those that were never known`() {
        let other = Peer(":1.2", serial: 2, mayAsk: true)
        #expect(peer.isLike(other))
        // A program that can't be told apart is another than one that is not known yet.
        var (own, its): (String?, String?) = (nil, nil)
        func become(_ group: String?, _ peer: Peer) {
            peer.state = .known(IntroducedPeer(handle: 1, groups: group.map { [$0] } ?? []))
        }
        become(own, peer)
        #expect(!peer.isLike(other))
        become(its, other)
        #expect(peer.isLike(other))
        (own, its) = ("exe:/a", "exe:/b")
        become(own, peer)
        #expect(!peer.isLike(other))
        become(its, other)
        #expect(!peer.isLike(other))
        become(own, other)
        #expect(peer.isLike(other))
    }
}

@Suite struct ItemRankTests {
    private func rank(
        _ pairs: [String], modified: UInt64 = 1, _ first: UInt8 = 0
    ) -> ItemRank {
        var attributes: Attributes = [:]
        for name in pairs { attributes[.pair(name)] = .string("x") }
        let name = ItemName(identifier: [first] + [UInt8](repeating: 0, count: 15))
        return ItemRank(
            name, ItemFacts(pairs: attributes, label: "", created: 0, modified: modified))
    }

    @Test func `the fewest attributes come first, then the latest change, then the identifier`() {
        let ordered = [
            rank(["a"], modified: 9), rank(["a", "xdg:schema"], modified: 8, 1),
            rank(["a"], modified: 8, 2), rank(["a", "b"], modified: 99),
        ]
        #expect(ordered.reversed().sorted() == ordered)
    }
}
