// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
public import KeychainPolicyEngine
public import KeychainPolicyModel

/// Compares the compiled engine with the reference.
public enum Comparison {
    /// A request with different decisions, and the fewest rules that show the difference.
    public struct Difference: Error, CustomStringConvertible {
        public let policy: PolicySet
        public let request: PolicyRequest
        public let expected: PolicyDecision
        public let found: String

        public var description: String {
            "expected \(expected)\nfound \(found)\nfor \(request)\nunder \(policy)"
        }
    }

    /// Compares this many decisions under random policies, a few requests for each policy; throws
    /// the first difference.
    public static func run(decisions: Int, seed: UInt64) throws {
        var done = 0
        var round: UInt64 = 0
        while done < decisions {
            var world = PolicyGenerator(
                seed: seed &+ round &* 0x9E37_79B9,
                fields: round % 3 == 0 ? [.exe, .service] : TextField.allCases)
            let requests = round % 16 == 0 ? 64 : 24
            let policy = world.policy(rules: round % 16 == 0 ? 160 : 12)
            let compiled = try CompiledPolicy(policy)
            let reference = ReferenceEvaluator(policy)
            for _ in 0..<min(requests, decisions - done) {
                let request = world.request(for: policy)
                if mismatch(compiled, reference.decide(request), request) != nil {
                    throw try smallest(policy, request)
                }
                done += 1
            }
            round += 1
        }
    }

    /// The difference of the compiled engine's answers; nil when there is none.
    public static func mismatch(
        _ compiled: CompiledPolicy, _ expected: PolicyDecision, _ request: PolicyRequest
    ) -> String? {
        let whole = compiled.decision(on: request)
        guard whole == expected else { return "\(whole)" }
        let ruling = compiled.decide(compiled.admit(request))
        let isSame =
            ruling.outcome == expected.outcome && ruling.audit == expected.audit
            && ruling.wouldDecide == expected.wouldDecide
            && compiled.attributes(ruling.redactions) == expected.redacted
            && ruling.lead.flatMap { compiled.provenance(of: $0)?.id } == expected.because.first
        return isSame ? nil : "\(ruling)"
    }

    private static func smallest(
        _ policy: PolicySet, _ request: PolicyRequest
    ) throws -> Difference {
        var policy = policy
        var shrunk = true
        while shrunk {
            shrunk = false
            for smaller in smallerPolicies(policy) where try differs(smaller, request) != nil {
                policy = smaller
                shrunk = true
                break
            }
        }
        let expected = ReferenceEvaluator(policy).decide(request)
        let found = try differs(policy, request) ?? "the same"
        return Difference(policy: policy, request: request, expected: expected, found: found)
    }

    private static func differs(
        _ policy: PolicySet, _ request: PolicyRequest
    ) throws -> String? {
        let expected = ReferenceEvaluator(policy).decide(request)
        return mismatch(try CompiledPolicy(policy), expected, request)
    }

    private static func smallerPolicies(_ policy: PolicySet) -> [PolicySet] {
        without(policy, \.rules) + without(policy, \.closed) + without(policy, \.groups)
    }

    private static func without<Part>(
        _ policy: PolicySet, _ parts: WritableKeyPath<PolicySet, [Part]>
    ) -> [PolicySet] {
        policy[keyPath: parts].indices.map { place in
            var smaller = policy
            smaller[keyPath: parts].remove(at: place)
            return smaller
        }
    }
}
