// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyModel
import Testing

@Suite struct `Policy requirements` {
    private typealias Tree = PolicyConstraint
    private static let passcode = Tree.factor(.passcode)
    private static let presence = Tree.factor(.presence)
    private static let otp = Tree.pam("keychain-otp", within: nil)

    @Test(arguments: [
        (Tree.all([otp, passcode]), #"{"all":["passcode",{"pam":"keychain-otp"}]}"#),
        (
            .all([.all([passcode, otp]), passcode]), #"{"all":["passcode",{"pam":"keychain-otp"}]}"#
        ),
        (.any([.any([.any([presence])])]), #""presence""#),
        (
            .all([.any([presence, passcode]), .any([passcode, presence])]),
            #"{"any":["passcode","presence"]}"#
        ),
        (
            .atLeast(2, of: [presence, passcode, passcode]),
            #"{"k":2,"of":["passcode","passcode","presence"]}"#
        ),
        (.atLeast(1, of: [.all([presence])]), #"{"k":1,"of":["presence"]}"#),
        (
            .all([.atLeast(1, of: [passcode]), passcode]),
            #"{"all":["passcode",{"k":1,"of":["passcode"]}]}"#
        ),
        (.pam("keychain-otp", within: .minutes(90)), #"{"pam":"keychain-otp","within":"90m"}"#),
    ]) func `have one canonical form`(_ row: (tree: PolicyConstraint, json: String)) {
        #expect(row.tree.canonical.json == row.json)
        #expect(row.tree.canonical.canonical == row.tree.canonical)
    }

    @Test func `say what an item's access control says`() {
        #expect(PolicyItemConstraint(.always) == .none)
        #expect(PolicyItemConstraint(.never) == .never)
        let both = Constraint.atLeast(required: 2, of: [.devicePasscode, .companion])
        #expect(
            PolicyItemConstraint(both)
                == .needs(.all([.factor(.passcode), .factor(.companion)])))
        #expect(PolicyItemConstraint(.atLeast(required: 2, of: [.never, .companion])) == .never)
    }

    private static let constraints: [PolicyConstraint] = {
        let passcode = PolicyConstraint.factor(.passcode)
        let confirm = PolicyConstraint.factor(.confirm)
        let three = [passcode, confirm, .factor(.companion)]
        return [
            .factor(.presence), passcode, .factor(.biometry), .factor(.biometryCurrentSet), confirm,
            .pam("keychain-a", within: nil), .pam("keychain-a", within: .minutes(1)),
            .any([passcode, confirm]), .all([passcode, confirm]), .all(three),
            .any([.factor(.biometry), passcode]), .atLeast(2, of: three), .atLeast(1, of: three),
            .all([.any([passcode, .factor(.biometry)]), confirm]),
            .atLeast(2, of: [.factor(.presence), confirm, .pam("keychain-a", within: nil)]),
        ]
    }()

    /// Sets of one to three proofs.
    private static let evidence: [[PolicyProof]] = {
        let methods =
            [PolicyFactor.passcode, .biometry, .biometryCurrentSet, .confirm, .companion].map {
                PolicyMethod.factor($0)
            } + [.pam("keychain-a")]
        let proofs = methods.flatMap { method in
            [0, 3, 30, 120].flatMap { age in
                [Freshness.context, .session].map {
                    PolicyProof(method, age: .minutes(age), scope: $0)
                }
            }
        }
        let pairs = proofs.indices.flatMap { first in
            proofs[first...].map { [proofs[first], $0] }
        }
        let fresh = methods.map { PolicyProof($0, age: .zero, scope: .context) }
        let triples = pairs.filter { $0.allSatisfy(fresh.contains) }.flatMap { pair in
            fresh.map { pair + [$0] }
        }
        return pairs + triples
    }()

    @Test func `imply others only where all that meets them meets the others`() {
        let demands = Self.constraints.flatMap { constraint in
            [0, 5, 60].flatMap { within in
                [Freshness.context, .process, .session].map {
                    PolicyDemand(constraint, within: .minutes(within), scope: $0)
                }
            }
        }
        for operation in [PolicyOperation.sign, .export] {
            let met = demands.map { demand in
                Set(
                    Self.evidence.indices.filter {
                        demand.isMet(by: Self.evidence[$0], for: operation)
                    })
            }
            var (implied, missed) = (0, 0)
            for (first, own) in demands.enumerated() {
                for (second, other) in demands.enumerated() {
                    let isSo = met[first].isSubset(of: met[second])
                    if own.implies(other) {
                        implied += 1
                        #expect(isSo, "\(own) does not imply \(other)")
                    } else if isSo, operation == .sign {
                        missed += 1
                    }
                }
            }
            #expect(implied > 1_500)
            // A proof of five minutes is never in a sample of ages, one of three is.
            #expect(missed < implied)
        }
        #expect(demands.allSatisfy { $0.implies($0) })
    }
}
