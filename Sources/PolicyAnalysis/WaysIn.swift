// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// The statements that let a set's requests through, with how each names the program: permits in a
/// closed scope, shares and groups for programs that are no members, and exceptions of statements
/// that refuse or ask. Other conditions of a request, and statements that only ask more of some
/// programs, don't count.
struct WaysIn {
    /// A statement that would refuse or ask without its exceptions, and the cells of its match and
    /// of each exception.
    private struct Barrier {
        let cells: [Cell]
        let exceptions: [(naming: ProgramNaming, cells: [Cell])]
    }

    private let universe: Universe
    private let evaluator: ReferenceEvaluator
    private let permits: [PolicyText: ProgramNaming]
    private let shares: [PolicyText: ProgramNaming]
    private let barriers: [Barrier]
    private let isExact: Bool

    /// With `isExact` the same rules let all requests of a cell through.
    init(_ policy: PolicySet, day: Int32, _ universe: Universe, isExact: Bool) {
        self.universe = universe
        self.isExact = isExact
        evaluator = ReferenceEvaluator(policy)
        let rules = policy.rules.filter { $0.mode.enforces(on: day) }
        func namings(_ isOne: (PolicyEffect) -> Bool) -> [PolicyText: ProgramNaming] {
            Dictionary(
                rules.filter { isOne($0.effect) }.map {
                    ($0.id, $0.match.box.conditions.programNaming)
                }, uniquingKeysWith: { $1 })
        }
        permits = namings { if case .permit = $0 { true } else { false } }
        shares = namings { if case .share = $0 { true } else { false } }
        let barring =
            rules.filter { rule in
                switch rule.effect {
                case .forbid, .require: true
                default: false
                }
            }.map(\.match) + policy.closed.filter { $0.mode.enforces(on: day) }.map(\.match)
        var budget = Budget(PolicyAnalysis.mostCells)
        barriers = barring.compactMap { Self.barrier($0, universe, &budget) }
    }

    /// nil for a match without exceptions, or with too many.
    private static func barrier(
        _ match: PolicyMatch, _ universe: Universe, _ budget: inout Budget
    ) -> Barrier? {
        guard !match.exceptions.isEmpty else { return nil }
        do throws(Budget.Spent) {
            var exceptions: [(ProgramNaming, [Cell])] = []
            for box in match.exceptions {
                exceptions.append(
                    (box.conditions.programNaming, try universe.cells(of: box, .yes, &budget)))
            }
            return Barrier(
                cells: try universe.cells(of: match.box, .unknown, &budget),
                exceptions: exceptions)
        } catch {
            return nil
        }
    }

    /// Whether one of the ways in rests on names that another program can take, and none on other
    /// names.
    func areWeak(for request: PolicyRequest, _ decision: PolicyDecision, in cell: Cell) -> Bool {
        let passed =
            [decision.because.compactMap { permits[$0] }, entries(request, decision)]
            + barriers.map { own in
                guard meets(own.cells, cell) else { return [] }
                return own.exceptions.filter { meets($0.cells, cell) }.map(\.naming)
            }
        let namings = passed.filter { !$0.isEmpty }.map(naming)
        return namings.contains(.weak) && !namings.contains(.strong)
    }

    /// The shares and groups that let the program reach the item; empty where it is a member by
    /// itself.
    private func entries(
        _ request: PolicyRequest, _ decision: PolicyDecision
    ) -> [ProgramNaming] {
        let isMember = PolicyCondition.boolean(.member, true).truth(of: request.facts) == .yes
        if isMember { return [] }
        let members = evaluator.policy.groups.filter {
            request.facts[.accessGroup] == .known([$0.group])
        }.flatMap(\.members).filter {
            PolicyBox($0).truth(for: request.operation, request.facts) == .yes
        }
        return decision.because.compactMap { shares[$0] } + members.map(\.programNaming)
    }

    /// The naming of several alternatives. Where all let the same requests through, no name counts
    /// first, then a strong name; where each may let only some through, a weak name counts first.
    private func naming(_ ways: [ProgramNaming]) -> ProgramNaming {
        let order: [ProgramNaming] = isExact ? [.none, .strong] : [.weak, .none, .strong]
        return order.first(where: ways.contains) ?? .weak
    }

    private func meets(_ cells: [Cell], _ cell: Cell) -> Bool {
        cells.contains { universe.algebra.meets($0, cell) }
    }
}
