// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainModel
import Testing

@testable import KeychainAccessControl
@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

/// Items of other groups that something else than a group or a rule lets the caller know of.
@Suite struct AdmissionTests {
    private static let reference = ItemReference(
        itemClass: .genericPassword, identifier: [UInt8](repeating: 7, count: 16))!

    private func judged(
        _ operation: PolicyOperation, _ admission: AccessRequest.Admission,
        _ policy: PolicySet = PolicySet(), reading: Constraint = .always, isUnlocked: Bool = true,
        evidence: Evidence = Evidence()
    ) throws -> Said {
        let rights = ItemAccessControl(
            protection: .whenUnlocked,
            operations: [.decrypt: reading, .encrypt: .always, .delete: .always],
            defaultOperation: nil)
        let request = AccessRequest(
            AccessRequest.Circumstances(
                operation == .delete ? .delete : .decrypt, as: operation, callerGroups: ["mine"],
                keychain: AccessRequest.Keychain(
                    isUnlocked: isUnlocked, wasUnlockedSinceBoot: true, isPasscodeSet: true),
                mayAsk: true, provable: [.factor(.presence), .factor(.passcode)]),
            on: AccessRequest.Item(
                reference: Self.reference, accessGroup: "theirs", accessControl: rights,
                admission: admission))
        return Said(Judge(try CompiledPolicy(policy)).judge(request, evidence))
    }

    private func policy(_ effect: PolicyEffect) -> PolicySet {
        var set = PolicySet()
        set.rules = [rule("test.rule", effect)]
        return set
    }

    private static let reads: Set<PolicyOperation> = [
        .readSecret, .readAttributes, .list, .sign, .decrypt, .derive,
    ]

    @Test(arguments: PolicyOperation.allCases)
    func `a trusted program may read and nothing else`(_ operation: PolicyOperation) throws {
        let expected: Said = Self.reads.contains(operation) ? .allow : .deny(.unknownItem)
        #expect(try judged(operation, .trusted) == expected)
        // A policy that is about something else changes nothing of it.
        #expect(try judged(operation, .trusted, policy(.audit(.full))) == expected)
        #expect(try judged(operation, .none) == .deny(.unknownItem))
        #expect(try judged(operation, .none, policy(.audit(.full))) == .deny(.unknownItem))
    }

    @Test(arguments: PolicyOperation.allCases)
    func `who may change an item may ask to change its list`(_ operation: PolicyOperation) throws {
        let expected: Said = operation == .changeACL ? .allow : .deny(.unknownItem)
        #expect(try judged(operation, .mayChange) == expected)
        #expect(try judged(operation, .mayChange, policy(.audit(.full))) == expected)
    }

    @Test(arguments: PolicyOperation.allCases)
    func `a program that joined the group may read, change and delete`(
        _ operation: PolicyOperation
    ) throws {
        let mayDo = Self.reads.union([.update, .delete]).contains(operation)
        let expected: Said = mayDo ? .allow : .deny(.unknownItem)
        #expect(try judged(operation, .joined) == expected)
        #expect(try judged(operation, .joined, policy(.audit(.full))) == expected)
    }

    @Test func `what the item asks for is asked of a trusted program too`() throws {
        let presence = PolicyConstraint.factor(.presence)
        for set in [PolicySet(), policy(.audit(.full))] {
            #expect(
                try judged(.readSecret, .trusted, set, reading: .userPresence) == .after(presence))
            #expect(
                try judged(
                    .readSecret, .trusted, set, reading: .userPresence, evidence: proven(.presence))
                    == .allow)
            #expect(
                try judged(.readSecret, .trusted, set, isUnlocked: false) == .deny(.locked))
        }
    }

    @Test func `a forbidding rule wins over every list`() throws {
        let said = try judged(.readSecret, .trusted, policy(.forbid("no")))
        guard case .deny(.forbidden(let rules, _)) = said else {
            Issue.record("\(said)")
            return
        }
        #expect(rules == ["test.rule"])
    }

    @Test(arguments: PolicyOperation.allCases)
    func `with policies that can't be used no program is let in, whatever it joined`(
        _ operation: PolicyOperation
    ) throws {
        for admission: AccessRequest.Admission in [.trusted, .joined] {
            let said = try judged(operation, admission, .whenBroken)
            guard case .deny(let denial) = said else {
                Issue.record("\(said)")
                continue
            }
            guard admission.covers(operation) else {
                #expect(denial == .unknownItem)
                continue
            }
            #expect(denial == .forbidden(because: ["built-in.own-groups"], first: "built in:1"))
        }
    }

    @Test func `a closed scope without a permit wins over every list`() throws {
        var set = PolicySet()
        set.closed = [scope("test.closed")]
        let said = try judged(.readSecret, .trusted, set)
        guard case .deny(.forbidden(let rules, _)) = said else {
            Issue.record("\(said)")
            return
        }
        #expect(rules == ["test.closed"])
        set.rules = [rule("test.permit", .permit("yes"))]
        #expect(try judged(.readSecret, .trusted, set) == .allow)
    }

    @Test func `both engines decide alike of a program that is let in`() throws {
        var set = policy(.share("theirs"))
        set.rules.append(rule("test.require", .require(PolicyDemand(.factor(.passcode)))))
        for rules in [set.rules, Array(set.rules.dropFirst()), []] {
            for isLetIn in [false, true] {
                for operation in PolicyOperation.allCases {
                    var some = PolicySet()
                    some.rules = rules
                    var facts = PolicyFacts()
                    facts[.member] = .known(false)
                    facts[.interactive] = .known(true)
                    facts.isLetIn = isLetIn
                    let request = PolicyRequest(operation, facts: facts, day: 0)
                    let compiled = try CompiledPolicy(some)
                    let plain = ReferenceEvaluator(some).decide(request)
                    #expect(compiled.decision(on: request) == plain)
                    #expect(compiled.decide(compiled.admit(request)).outcome == plain.outcome)
                    if rules.isEmpty { #expect((plain.outcome == .allow) == isLetIn) }
                }
            }
        }
    }
}

private let origin = PolicyOrigin(file: "10-test.yaml", line: 7, column: 5, level: 0)

private func rule(_ id: PolicyText, _ effect: PolicyEffect) -> PolicyRule {
    PolicyRule(id: id, origin: origin, effect: effect, match: PolicyMatch(PolicyBox()))
}

private func scope(_ id: PolicyText) -> ClosedScope {
    ClosedScope(id: id, origin: origin, match: PolicyMatch(PolicyBox()))
}
