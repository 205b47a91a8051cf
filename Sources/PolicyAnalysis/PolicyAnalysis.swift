// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyRequestSpace

/// Answers questions about all possible requests to a set, exactly, or says that a budget was not
/// enough to decide.
///
/// Requests have every fact known, absent or unknown, no evidence, and items without requirements
/// of their own; an item's requirements only refuse more. `update` is judged by the item after the
/// update. Facts are independent of each other but for `Universe.axioms`. Limits are ignored.
/// "Allowed" means: not refused, at most after a proof.
package struct PolicyAnalysis: Sendable {
    package static let mostCells = 200_000

    let policy: PolicySet
    /// The local day, in days since 1970-01-01, on which complaining rules are judged.
    let day: Int32
    let mostCells: Int
    let meanings: [Meaning]

    package init(_ policy: PolicySet, day: Int32, mostCells: Int = Self.mostCells) {
        self.policy = policy
        self.day = day
        self.mostCells = mostCells
        meanings = policy.meanings(on: day, byDate: policy.hasDates)
    }

    /// A request as an example, and its decision.
    package struct Witness: Sendable, Hashable {
        package let request: PolicyRequest
        package let decision: PolicyDecision
    }

    /// The result for an assertion.
    package enum Proof: Sendable, Hashable {
        case proved
        case refuted(Witness)
        case notDecided
    }

    /// All proofs together may take this multiple of one proof's budget.
    private static let mostProofs = 10

    /// For each assertion, whether nothing in its box is ever allowed.
    package func proofs(of assertions: [PolicyAssertion]) -> [Proof] {
        var budget = Budget(mostCells * Self.mostProofs)
        let near = LiteralIndex(meanings.map(\.match.box))
        return assertions.map { assertion in
            do throws(Budget.Spent) {
                let proof = try budget.lend(mostCells) { part throws(Budget.Spent) in
                    try self.proof(of: assertion, near, &part)
                }
                // Each witness was compared with each rule.
                if case .refuted = proof { try budget.spend(policy.rules.count) }
                return proof
            } catch {
                return .notDecided
            }
        }
    }

    package func proof(of assertion: PolicyAssertion) -> Proof {
        proofs(of: [assertion]).first ?? .notDecided
    }

    /// An unknown fact never allows more, so only requests that match the box for certain are
    /// searched.
    private func proof(
        of assertion: PolicyAssertion, _ near: LiteralIndex, _ budget: inout Budget
    ) throws(Budget.Spent) -> Proof {
        let area = Area(box: assertion.never, least: .yes)
        let own = near.places(near: area.box).map { meanings[$0] }
        let maker = try RuleEffectMaker([own], near: [area], &budget)
        let universe = try Universe(maker.boxes, from: day, &budget)
        // Callers whom a group makes members are members here too.
        let joined = try universe.union(of: maker.groups.flatMap(\.self), .yes, &budget)
        let cells = try universe.cells(of: assertion.never, .yes, joined: joined, &budget)
        let search = try CellSearch(
            universe, maker, sides: [0], telling: .outcome, &budget)
        var found: Witness?
        var open: [Cell] = []
        try search.search(cells, leaving: &open, &budget) { cell, _ in
            found = witness(of: cell, universe)
            return true
        }
        return found.map(Proof.refuted) ?? .proved
    }

    func witness(of cell: Cell, _ universe: Universe) -> Witness {
        let request = universe.witness(of: cell, day: day)
        return Witness(request: request, decision: ReferenceEvaluator(policy).decide(request))
    }
}
