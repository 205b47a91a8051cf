// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// Answers questions about all requests that a set can meet, exactly, or says that they were not
/// decided within a budget.
///
/// Requests are taken with every fact known or absent, no evidence, and items that ask for nothing
/// themselves; what an unknown fact, less evidence or the item adds only refuses more. `update` is
/// judged by the item as it would be. Facts are taken as independent of each other. Limits are left
/// out. "Allowed" means: not refused, at most after a proof.
public struct PolicyAnalysis: Sendable {
    public static let mostCells = 200_000

    let policy: PolicySet
    /// The local day, in days since 1970-01-01, on which complaining rules are judged.
    let day: Int32
    let mostCells: Int

    public init(_ policy: PolicySet, day: Int32, mostCells: Int = Self.mostCells) {
        self.policy = policy
        self.day = day
        self.mostCells = mostCells
    }

    /// A request that shows something, and what is decided of it.
    public struct Witness: Sendable, Hashable {
        public let request: PolicyRequest
        public let decision: PolicyDecision
    }

    /// What became of a claim.
    public enum Proof: Sendable, Hashable {
        case proved
        case refuted(Witness)
        case notDecided
    }

    /// Whether nothing in the assertion's box is ever allowed.
    public func proof(of assertion: PolicyAssertion) -> Proof {
        // Whom a group takes in is a member here too.
        let asked = PolicyMatch(assertion.never).withMembers(of: policy.memberBoxes)
        let maker = FacetMaker([policy.meanings(on: day)], near: asked.map(\.box))
        let exceptions = asked.flatMap(\.exceptions)
        guard let universe = Universe(maker.boxes + exceptions) else { return .notDecided }
        do {
            var budget = Budget(mostCells)
            var cells: [Cell] = []
            for match in asked { cells += try universe.cells(of: match, &budget) }
            var search = try CellSearch(
                universe, maker.facets, sides: [0], everythingCounts: false, budget)
            var found: Witness?
            try search.search(cells) { cell, _ in
                found = witness(of: cell, universe)
                return true
            }
            return found.map(Proof.refuted) ?? .proved
        } catch {
            return .notDecided
        }
    }

    func witness(of cell: Cell, _ universe: Universe) -> Witness {
        let request = universe.witness(of: cell, day: day)
        return Witness(request: request, decision: ReferenceEvaluator(policy).decide(request))
    }
}
