// SPDX-License-Identifier: Apache-2.0
import CAllocationCount
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyModel

/// What decisions under a mix of rules cost.
struct DecisionTimes {
    let mix: RuleMix
    let policy: CompiledPolicy
    let compileMilliseconds: Double
    private let admitted: [AdmittedRequest]
    private let clock = ContinuousClock()

    /// As many decisions as the same request is repeated for a warm figure.
    private static let repeats = 16

    init(_ mix: RuleMix) throws {
        self.mix = mix
        var compiled: CompiledPolicy?
        let compiling = try ContinuousClock().measure { compiled = try CompiledPolicy(mix.policy) }
        guard let compiled else { throw Unmeasured() }
        policy = compiled
        compileMilliseconds = compiling.nanoseconds / 1e6
        admitted = mix.requests.map(compiled.admit)
    }

    struct Unmeasured: Error {}

    /// Nanoseconds of one decision, repeated at once; sorted.
    func warm() -> [Double] {
        admitted.map { request in
            _ = policy.decide(request)
            let start = clock.now
            for _ in 0..<Self.repeats { keep(policy.decide(request)) }
            return start.duration(to: clock.now).nanoseconds / Double(Self.repeats)
        }.sorted()
    }

    /// Mean nanoseconds of a decision when all requests take their turn.
    func coldMean(rounds: Int = 8) -> Double {
        let taken = clock.measure {
            for _ in 0..<rounds { decide(count: admitted.count) }
        }
        return taken.nanoseconds / Double(rounds * admitted.count)
    }

    /// Mean nanoseconds of taking a request's facts in.
    func admission() -> Double {
        let taken = clock.measure {
            for request in mix.requests { keepAdmitted(policy.admit(request)) }
        }
        return taken.nanoseconds / Double(mix.requests.count)
    }

    /// Blocks of memory that all decisions together ask for.
    func allocations() -> Int {
        let before = allocation_count()
        decide(count: admitted.count)
        return Int(allocation_count() - before)
    }

    /// Mean nanoseconds of the reference, on a few of the requests.
    func reference() -> Double {
        let reference = ReferenceEvaluator(mix.policy)
        let some = mix.requests.prefix(16)
        let taken = clock.measure {
            for request in some { keepDecision(reference.decide(request)) }
        }
        return taken.nanoseconds / Double(some.count)
    }

    /// Checks some decisions; what is fast and wrong is no figure.
    func differences() -> Int {
        let reference = ReferenceEvaluator(mix.policy)
        return zip(mix.requests, admitted).prefix(100).count { request, admitted in
            let expected = reference.decide(request)
            let ruling = policy.decide(admitted)
            return ruling.outcome != expected.outcome
                || ruling.lead.flatMap { policy.provenance(of: $0)?.id } != expected.because.first
        }
    }

    func decide(count: Int) {
        for number in 0..<count { keep(policy.decide(admitted[number % admitted.count])) }
    }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
    }
}

/// Not to be optimised away.
@inline(never) func keep(_ ruling: PolicyRuling) {}
@inline(never) func keepAdmitted(_ request: borrowing AdmittedRequest) {}
@inline(never) func keepDecision(_ decision: PolicyDecision) {}
