// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyCompiler
import KeychainPolicyEngine
import Testing

@testable import KeychainAccessControl
@testable import KeychainPolicyModel

/// What a verdict says, comparable: the verdict itself carries a grant that can't be copied.
enum Said: Equatable, CustomTestStringConvertible {
    case allow
    case deny(Denial)
    case after(PolicyConstraint)

    init(_ verdict: consuming Verdict) {
        switch verdict {
        case .allow: self = .allow
        case .deny(let denial): self = .deny(denial)
        case .allowAfter(let requirement): self = .after(requirement.constraint)
        }
    }

    var testDescription: String { "\(self)" }
}

private let reference = ItemReference(
    itemClass: .genericPassword, identifier: [UInt8](repeating: 7, count: 16))!

private func rights(
    _ protection: Accessibility, reading: Constraint = .always
) -> ItemAccessControl {
    reading == .always
        ? .plain(protection)
        : ItemAccessControl(
            protection: protection,
            operations: [.decrypt: reading, .encrypt: .always, .delete: .always],
            defaultOperation: nil)
}

enum KeychainState: CaseIterable {
    case neverUnlocked, locked, unlocked, unlockedWithoutPasscode

    var facts: AccessRequest.Keychain {
        AccessRequest.Keychain(
            isUnlocked: self == .unlocked || self == .unlockedWithoutPasscode,
            wasUnlockedSinceBoot: self != .neverUnlocked,
            isPasscodeSet: self != .unlockedWithoutPasscode)
    }
}

/// Evidence that was given for this request.
func proven(_ factors: PolicyFactor...) -> Evidence {
    factors.reduce(Evidence()) { $0.adding(.factor($1)) }
}

private func judged(
    _ operation: ItemOperation, _ rights: ItemAccessControl, _ state: KeychainState,
    groups: [String] = ["mine"], evidence: Evidence = Evidence(), mayAsk: Bool? = true,
    provable: Set<PolicyMethod> = [.factor(.presence), .factor(.passcode)]
) -> Said {
    Said(
        Judge().judge(
            AccessRequest(
                AccessRequest.Circumstances(
                    operation, as: .readSecret, callerGroups: groups, keychain: state.facts,
                    mayAsk: mayAsk, provable: provable),
                on: AccessRequest.Item(
                    reference: reference, accessGroup: "mine", accessControl: rights)), evidence))
}

@Suite struct JudgeTests {
    @Test(arguments: Accessibility.allCases, KeychainState.allCases)
    func `a class opens exactly when its key is there`(
        _ protection: Accessibility, _ state: KeychainState
    ) {
        let expected: Said
        switch (protection, state) {
        case (.whenPasscodeSetThisDeviceOnly, .unlockedWithoutPasscode):
            expected = .deny(.passcodeNotSet)
        case (.always, _), (.alwaysThisDeviceOnly, _), (_, .unlocked),
            (_, .unlockedWithoutPasscode):
            expected = .allow
        case (.afterFirstUnlock, .locked), (.afterFirstUnlockThisDeviceOnly, .locked):
            expected = .allow
        default: expected = .deny(.locked)
        }
        #expect(judged(.decrypt, rights(protection), state) == expected)
        #expect(judged(.encrypt, rights(protection), state) == expected)
    }

    @Test(arguments: Accessibility.allCases, KeychainState.allCases)
    func `deleting needs no class key`(_ protection: Accessibility, _ state: KeychainState) {
        #expect(judged(.delete, rights(protection), state) == .allow)
        #expect(judged(.delete, rights(protection, reading: .userPresence), state) == .allow)
    }

    @Test func `an item of another group does not exist for the caller`() {
        for state in KeychainState.allCases {
            for operation in ItemOperation.allCases {
                let said = judged(operation, rights(.always), state, groups: ["other", ""])
                #expect(said == .deny(.unknownItem))
            }
        }
        #expect(judged(.decrypt, rights(.always), .unlocked, groups: []) == .deny(.unknownItem))
    }

    @Test func `groups compare by bytes, not by how they look`() {
        // U+00E9, and e with U+0301: equal as Swift strings, two groups here.
        let item = AccessRequest.Item(
            reference: reference, accessGroup: "caf\u{E9}", accessControl: .plain(.always))
        let request = AccessRequest(
            AccessRequest.Circumstances(
                .decrypt, as: .readSecret, callerGroups: ["cafe\u{301}"],
                keychain: KeychainState.unlocked.facts, mayAsk: true, provable: []), on: item)
        #expect(Said(Judge().judge(request, Evidence())) == .deny(.unknownItem))
    }

    @Test func `presence is asked for once, and opens the item`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        #expect(judged(.decrypt, item, .unlocked) == .after(.factor(.presence)))
        #expect(judged(.decrypt, item, .unlocked, evidence: proven(.presence)) == .allow)
        #expect(judged(.decrypt, item, .unlocked, evidence: proven(.passcode)) == .allow)
    }

    @Test func `presence does not prove a passcode`() {
        let item = rights(.whenUnlocked, reading: .devicePasscode)
        let said = judged(.decrypt, item, .unlocked, evidence: proven(.presence))
        #expect(said == .after(.factor(.passcode)))
        #expect(judged(.decrypt, item, .unlocked, evidence: proven(.passcode)) == .allow)
    }

    @Test func `where no question may be asked, the answer is that, at once`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        let said = judged(.decrypt, item, .unlocked, mayAsk: false)
        #expect(said == .deny(.interactionNotAllowed))
    }

    @Test func `where it was not looked up whether the user may be asked, nothing is asked for`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        #expect(judged(.decrypt, item, .unlocked, mayAsk: nil) == .deny(.interactionNotAllowed))
        #expect(judged(.decrypt, rights(.whenUnlocked), .unlocked, mayAsk: nil) == .allow)
    }

    @Test func `a rule about the user's presence decides nothing where that was not looked up`()
        throws
    {
        let asked = PolicySet(rules: [
            PolicyRule(
                id: "there", origin: PolicyOrigin(file: "a", line: 1, column: 1, level: 0),
                effect: .forbid("Not while the user is there."),
                match: PolicyMatch(PolicyBox([.boolean(.interactive, true)])))
        ])
        let judge = Judge(try CompiledPolicy(asked))
        for (mayAsk, isAllowed) in [(true, false), (false, true), (nil, false)] {
            let request = AccessRequest(
                AccessRequest.Circumstances(
                    .decrypt, as: .readSecret, callerGroups: ["mine"],
                    keychain: KeychainState.unlocked.facts, mayAsk: mayAsk, provable: []),
                on: AccessRequest.Item(
                    reference: reference, accessGroup: "mine", accessControl: .plain(.always)))
            #expect((Said(judge.judge(request, Evidence())) == .allow) == isAllowed)
        }
    }

    @Test func `no question is asked about an item that is locked`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        #expect(judged(.decrypt, item, .locked) == .deny(.locked))
        #expect(judged(.decrypt, item, .locked, evidence: proven(.passcode)) == .deny(.locked))
    }

    @Test(arguments: [Constraint.biometryAny, .biometryCurrentSet, .companion, .never])
    func `what can't be proven here is refused, not asked for`(_ constraint: Constraint) {
        let item = rights(.whenUnlocked, reading: constraint)
        let all = proven(.presence, .passcode, .confirm)
        #expect(judged(.decrypt, item, .unlocked) == .deny(.impossible))
        #expect(judged(.decrypt, item, .unlocked, evidence: all) == .deny(.impossible))
        #expect(judged(.encrypt, item, .unlocked) == .deny(.impossible))
    }

    @Test func `without a password no user can prove to be the owner`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        #expect(judged(.decrypt, item, .unlockedWithoutPasscode) == .deny(.impossible))
        #expect(judged(.encrypt, item, .unlockedWithoutPasscode) == .deny(.impossible))
        #expect(judged(.encrypt, item, .unlocked) == .allow)
    }

    @Test func `rights without an entry for an operation forbid it`() {
        let keyRights = ItemAccessControl(
            protection: .whenUnlocked, operations: [.sign: .always, .delete: .always],
            defaultOperation: nil)
        #expect(judged(.decrypt, keyRights, .unlocked) == .deny(.impossible))
        #expect(judged(.encrypt, keyRights, .unlocked) == .deny(.impossible))
        #expect(judged(.sign, keyRights, .unlocked) == .allow)
        #expect(judged(.delete, keyRights, .unlocked) == .allow)
    }

    @Test func `biometry that was enrolled anew opens nothing that was bound to the old`() {
        let item = rights(.whenUnlocked, reading: .biometryCurrentSet)
        for isCurrent in [true, false] {
            let request = AccessRequest(
                AccessRequest.Circumstances(
                    .decrypt, as: .readSecret, callerGroups: ["mine"],
                    keychain: KeychainState.unlocked.facts, mayAsk: true,
                    provable: [.factor(.biometry)]),
                on: AccessRequest.Item(
                    reference: reference, accessGroup: "mine", accessControl: item,
                    biometryIsCurrent: isCurrent))
            let said = Said(Judge().judge(request, proven(.biometry)))
            #expect(said == (isCurrent ? .allow : .deny(.impossible)))
            let asked = Said(Judge().judge(request, Evidence()))
            #expect(asked == (isCurrent ? .after(.factor(.biometry)) : .deny(.impossible)))
        }
    }

    @Test func `an item takes proofs of its own request or context alone`() {
        let item = rights(.whenUnlocked, reading: .userPresence)
        for scope in Freshness.allCases {
            let evidence = Evidence([PolicyProof(.factor(.passcode), age: .zero, scope: scope)])
            let said = judged(.decrypt, item, .unlocked, evidence: evidence)
            #expect(said == (scope <= .context ? .allow : .after(.factor(.presence))))
        }
        let old = Evidence([
            PolicyProof(.factor(.passcode), age: .minutes(1), scope: .operation)
        ])
        #expect(judged(.decrypt, item, .unlocked, evidence: old) == .after(.factor(.presence)))
    }
}
