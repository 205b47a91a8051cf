// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainActivePolicy
import KeychainItemStore
import KeychainModel
import KeychainUserPresence
import KeychainPolicyModel
import KeychainRequestAudit
@testable import KeychainRequestService
import Testing

/// What an update of an item comes to, as requests of their own.
@Suite struct UpdateRequestsTests {
    private static let own = "exe:/usr/bin/git"

    private func requests(
        _ change: ItemChange, on rights: ItemAccessControl = .plain(.whenUnlocked),
        trusted: TrustList? = nil, destination: String? = nil,
        _ policy: ActivePolicy.Pair? = nil
    ) -> [AccessRequest] {
        let context = AuthorizationContext(
            policy?.judge ?? Judge(),
            AccessRequest.Circumstances(
                .decrypt, as: .update, callerGroups: [Self.own],
                keychain: AccessRequest.Keychain(
                    isUnlocked: true, wasUnlockedSinceBoot: true, isPasscodeSet: true),
                mayAsk: true, provable: [.factor(.presence)]),
            keychainName: "login", biometry: { [] }, notes: RequestNotes())
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("mail")]
        return UpdateRequests(change, context, destination: destination)
            .requests(on: .new(item, in: Self.own, rights, trusting: trusted))
    }

    private func operations(_ requests: [AccessRequest]) -> [PolicyOperation] {
        requests.map(\.circumstances.policyOperation)
    }

    private func change(_ body: (inout ItemChange) -> Void) -> ItemChange {
        var change = ItemChange()
        body(&change)
        return change
    }

    @Test func `a change of attributes is judged as it comes out where there is a policy`() throws {
        let comment = change { $0.attributes = [.comment: .string("x")] }
        #expect(requests(comment).isEmpty)
        let rules = "  - id: x\n    forbid: No.\n    operations: delete\n"
        let judged = requests(comment, try ServiceInMemory.rules(rules))
        #expect(operations(judged) == [.update])
        #expect(judged.first?.circumstances.operation == .encrypt)
    }

    @Test func `a move takes the item from one group and adds it to the other`() {
        let move = change { $0.accessGroup = "office" }
        let judged = requests(move, destination: "office")
        #expect(operations(judged) == [.move, .move, .add])
        #expect(judged.map(\.item.accessGroup) == [Self.own, "office", "office"])
        #expect(judged.map(\.circumstances.operation) == [.decrypt, .encrypt, .encrypt])
        // The group that it goes to counts only where it is one of the caller's.
        #expect(judged.last?.circumstances.callerGroups == [Self.own, "office"])
        #expect(requests(move).last?.circumstances.callerGroups == [Self.own])
        #expect(requests(change { $0.accessGroup = Self.own }).isEmpty)
    }

    @Test func `new rights of a guarded item are a change of its rights, the same are none`() {
        let tighter = change { $0.accessControl = .withPassword }
        #expect(operations(requests(tighter, on: .guarded)) == [.update, .changeACL])
        let same = change { $0.accessControl = .guarded }
        #expect(operations(requests(same, on: .guarded)) == [.update])
    }

    @Test func `another accessibility alone keeps a guarded item's constraints`() {
        let judged = requests(change { $0.accessible = .afterFirstUnlock }, on: .guarded)
        #expect(operations(judged) == [.update, .changeACL])
        let kept = ItemAccessControl.guarded.protected(by: .afterFirstUnlock)
        #expect(judged.first?.item.accessControl == kept)
        let same = change { $0.accessible = .whenUnlocked }
        #expect(operations(requests(same, on: .guarded)) == [.update])
    }

    @Test func `an item that its program could delete and add again changes its rights unasked`() {
        let other = change { $0.accessible = .afterFirstUnlock }
        #expect(operations(requests(other)) == [.update])
        // With a list of other programs it could not be added again as it was.
        #expect(operations(requests(other, trusted: TrustList())) == [.update, .changeACL])
    }

    @Test func `a list of programs is asked for by whichever program may change the item`() {
        let judged = requests(change { $0.trust = .reset })
        #expect(operations(judged) == [.update, .changeACL])
        #expect(judged.last?.item.admission == .mayChange)
    }

    @Test func `a user reads which program a moved item would belong to`() {
        let move = change { $0.accessGroup = "exe:/usr/bin/mail" }
        #expect(move.moveRemark?.contains("to “/usr/bin/mail”, which opens it") == true)
        #expect(ItemChange().moveRemark == nil)
    }
}
