// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainActivePolicy
import KeychainItemStore
import KeychainModel
import KeychainPolicyModel
import KeychainRequestAudit
@testable import KeychainRequestService
import Testing

/// How one request's items are judged.
@Suite struct AuthorizationContextTests {
    private static let group = "exe:/usr/bin/git"

    private func context(
        _ policy: ActivePolicy.Pair? = nil, mayAsk: Bool = true,
        biometry: @autoclosure @escaping () -> [UInt8] = [1]
    ) -> AuthorizationContext {
        AuthorizationContext(
            policy?.judge ?? Judge(),
            AccessRequest.Circumstances(
                .decrypt, as: .readSecret, callerGroups: [Self.group],
                keychain: AccessRequest.Keychain(
                    isUnlocked: true, wasUnlockedSinceBoot: true, isPasscodeSet: true),
                mayAsk: mayAsk,
                provable: [.factor(.presence), .factor(.passcode), .factor(.biometry)]),
            keychainName: "login", biometry: biometry, notes: RequestNotes())
    }

    private func item(
        _ rights: ItemAccessControl = .plain(.whenUnlocked), group: String = Self.group
    ) -> SealedItem {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("mail")]
        return .new(item, in: group, rights)
    }

    @Test func `what an item needs is what its own rights make its verdict rest on`() {
        let guarded = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .userPresence)
        let readGuarded = ItemAccessControl(
            protection: .whenUnlocked, operations: [.decrypt: .userPresence],
            defaultOperation: .always)
        let bound = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .biometryCurrentSet
        ).bound(to: [1])
        for (rights, reading, adding) in [
            (.plain(.whenUnlocked), [], []),
            (.plain(.whenPasscodeSetThisDeviceOnly), .passcode, .passcode),
            (guarded, .proof, .proof), (readGuarded, .proof, .proof),
            (bound, .proof, .proof),
        ] as [(ItemAccessControl, ItemNeeds, ItemNeeds)] {
            #expect(ItemNeeds(of: item(rights), toDo: .decrypt) == reading)
            #expect(ItemNeeds(of: item(rights), toDo: .encrypt) == adding)
        }
        #expect(ItemNeeds(of: item(readGuarded), toDo: .delete).isEmpty)
    }

    private enum Said: Equatable {
        case allowed
        case denied(Denial)
        case after(Requirement)
    }

    private func said(
        _ context: AuthorizationContext, _ item: SealedItem, _ evidence: Evidence = Evidence()
    ) -> Said {
        switch context.judge(item, evidence) {
        case .allow: .allowed
        case .deny(let denial): .denied(denial)
        case .allowAfter(let requirement): .after(requirement)
        }
    }

    @Test func `another program's item does not exist, unless the client was let in`() {
        let other = item(group: "exe:/usr/bin/mail")
        let context = context()
        #expect(said(context, other) == .denied(.unknownItem))
        #expect(!context.isKnown(other) && !context.isOwn(other))
        context.admission = { _ in .trusted }
        #expect(said(context, other) == .allowed)
        #expect(context.isKnown(other) && !context.isOwn(other))
        #expect(context.isOwn(item()))
    }

    @Test func `what the verb does besides is asked for together with it`() {
        let item = item(.guarded)
        let context = context()
        let presence = Requirement(.factor(.presence))
        #expect(said(context, item) == .after(presence))
        context.also = { context, item in
            let rights = ItemAccessControl(
                protection: .whenUnlocked, operations: [:], defaultOperation: .devicePasscode)
            return [
                AccessRequest(
                    context.circumstances, on: context.item(item, Self.group, rights))
            ]
        }
        let both = Requirement.all([Requirement(.factor(.passcode)), presence])
        #expect(said(context, item) == .after(both))
        #expect(said(context, self.item()) == .after(Requirement(.factor(.passcode))))
        let proven = Evidence().adding(.factor(.passcode)).adding(.factor(.presence))
        #expect(said(context, item, proven) == .allowed)
    }

    @Test func `what the verb does besides and may not do denies all of it`() {
        let context = context()
        context.also = { context, item in
            [
                AccessRequest(
                    context.circumstances,
                    on: context.item(item, "exe:/usr/bin/mail", item.accessControl))
            ]
        }
        #expect(said(context, item()) == .denied(.unknownItem))
        #expect(said(context, item(.guarded)) == .denied(.unknownItem))
    }

    @Test func `where the user can't be asked, what needs a proof is refused`() {
        #expect(
            said(context(mayAsk: false), item(.guarded)) == .denied(.interactionNotAllowed))
    }

    @Test func `an item of the biometry that was enrolled is lost with it`() {
        let rights = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .biometryCurrentSet)
        let context = context()
        let bound = item(context.bound(rights))
        #expect(bound.accessControl.boundBiometry == [1])
        #expect(said(context, bound) == .after(Requirement(.factor(.biometry))))
        for now in [[2], []] as [[UInt8]] {
            #expect(said(self.context(biometry: now), bound) == .denied(.impossible))
        }
        // Rights that are bound to no set are not touched.
        #expect(context.bound(.guarded).boundBiometry.isEmpty)
    }

    @Test func `the enrolled biometry is looked up once, and only for an item bound to it`() {
        var looks = 0
        func enrolled() -> [UInt8] {
            looks += 1
            return [1]
        }
        let context = context(biometry: enrolled())
        _ = said(context, item())
        _ = said(context, item(.guarded))
        #expect(looks == 0)
        let rights = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .biometryCurrentSet)
        for _ in 1...2 { _ = said(context, item(context.bound(rights))) }
        #expect(looks == 1)
    }

    @Test func `a rule that forbids is noted for the explanation`() throws {
        let rules = "  - id: no.mail\n    forbid: No.\n    operations: read-secret\n"
        let context = context(try ServiceInMemory.rules(rules))
        guard case .denied(let denial) = said(context, item()) else {
            Issue.record("the rule is not in force")
            return
        }
        #expect(context.refusal(denial) == .refused(.forbidden))
        #expect(context.notes.rules == ["no.mail"])
        #expect(context.refusal(.locked) == .state(.locked))
    }

    @Test func `an item may be listed where it may be read`() throws {
        let rules = "  - id: no.list\n    forbid: No.\n    operations: list\n"
        let context = context(try ServiceInMemory.rules(rules))
        let item = item()
        #expect(said(context, item) == .allowed)
        guard case .deny = context.judge.judge(context.listing(item), Evidence()) else {
            Issue.record("a listing is judged as such")
            return
        }
    }
}
