// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainUserPresence

@Suite struct SessionTrustTests {
    private let trust = SessionTrust(keyring: nil)

    private func item(_ number: UInt8 = 1) throws -> ItemReference {
        try #require(
            ItemReference(
                itemClass: .genericPassword, identifier: [UInt8](repeating: number, count: 16)))
    }

    private func caller(
        _ identity: Caller.Identity = .trustedExecutable("/usr/bin/git"), session: Int32? = 7,
        user: UInt32 = 1000
    ) -> Caller {
        Caller(
            user: user, process: 1, identity: identity,
            session: session.map(SessionID.init(rawValue:)), terminal: nil, accessGroups: [])
    }

    @Test func `what is allowed is allowed to that program in that session of that user`() throws {
        let one = try item()
        #expect(trust.allow(one, for: caller()))
        #expect(trust.items(for: caller()) == [one])
        for other in [
            caller(.trustedExecutable("/usr/bin/gitk")), caller(session: 8), caller(session: nil),
            caller(user: 1001), caller(.unknown),
            // The same path, which another user than root can change by now.
            caller(.executable("/usr/bin/git")),
        ] {
            #expect(trust.items(for: other).isEmpty)
        }
    }

    @Test func `without a session or a name nothing is kept`() throws {
        #expect(!trust.allow(try item(), for: caller(session: nil)))
        #expect(!trust.allow(try item(), for: caller(.unknown)))
    }

    @Test func `it ends with the session, with a lock, and when the item's list changes`() throws {
        let (one, two) = (try item(1), try item(2))
        trust.allow(one, for: caller())
        trust.allow(two, for: caller())
        trust.allow(one, for: caller(session: 8))
        trust.forget([one], of: 1000)
        #expect(trust.items(for: caller()) == [two])
        #expect(trust.items(for: caller(session: 8)).isEmpty)
        trust.allow(one, for: caller(session: 8))
        trust.forget(SessionID(rawValue: 7), of: 1000, isLast: false)
        #expect(trust.items(for: caller()).isEmpty)
        #expect(trust.items(for: caller(session: 8)) == [one])
        EvidenceStore(keyring: nil).forget(1000)
        #expect(trust.items(for: caller(session: 8)) == [one])
        trust.forget(1000)
        #expect(trust.items(for: caller(session: 8)).isEmpty)
    }

    @Test func `to a program in no session it ends with its user's last login`() throws {
        let one = try item()
        trust.allowForMoment(one, for: caller(session: nil))
        trust.forget(SessionID(rawValue: 7), of: 1001, isLast: true)
        trust.forget(SessionID(rawValue: 7), of: 1000, isLast: false)
        #expect(trust.items(for: caller(session: nil)) == [one])
        trust.forget(SessionID(rawValue: 7), of: 1000, isLast: true)
        #expect(trust.items(for: caller(session: nil)).isEmpty)
    }

    @Test func `it ends wherever proofs end`() throws {
        let store = EvidenceStore(keyring: nil)
        store.trust.allow(try item(), for: caller())
        store.forget(SessionID(rawValue: 7), of: 1000, isLast: false)
        #expect(store.trust.items(for: caller()).isEmpty)
        store.trust.allow(try item(), for: caller())
        store.forget(1000)
        #expect(store.trust.items(for: caller()).isEmpty)
    }

    @Test func `a user's memory has a size`() throws {
        for number in 0..<80 { trust.allow(try item(UInt8(number)), for: caller()) }
        let kept = trust.items(for: caller())
        #expect(kept.count == 64)
        #expect(try kept.last == item(79))
    }
}
