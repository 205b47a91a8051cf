// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyRequestSpace

/// Requests that are not refused and are decided alike.
package struct PolicyAccess: Sendable {
    /// One of the requests.
    package let request: PolicyRequest
    /// The decision of the example; it holds for all of them to the list's `detail`.
    package let decision: PolicyDecision
    /// The areas of all such requests; they are disjoint.
    package let areas: [RequestArea]
    /// Whether it rests on a name that a program of the same user could take, and on none that it
    /// could not.
    package let isWeak: Bool
}

/// All accesses that were found.
package struct PolicyAccessList: Sendable {
    /// The detail in which the requests of one entry agree.
    package enum Detail: String, Sendable {
        /// The whole decision.
        case rules
        /// The required proofs; the rules are those of the example.
        case proofs
        /// That they are not refused; proofs and rules are those of the example.
        case outcome
    }

    package let accesses: [PolicyAccess]
    package let detail: Detail
    /// The area in which requests were not searched; nil where all were.
    package let undecided: [AreaField]?
    package var isComplete: Bool { undecided == nil }
}

extension PolicyAnalysis {
    /// The subjects that may do the operation on items with these facts, whatever the items' other
    /// facts are.
    package func who(_ operation: PolicyOperation, item: PolicyFacts) -> PolicyAccessList {
        access(PolicyOperations(operation), of: item)
    }

    /// The operations that subjects with these facts may do, whatever their other facts are.
    package func can(_ subject: PolicyFacts) -> PolicyAccessList {
        access(.all, of: subject)
    }

    /// A result that takes too long to compute exactly is given in less detail.
    private func access(
        _ operations: PolicyOperations, of facts: PolicyFacts
    ) -> PolicyAccessList {
        let asked = Area(box: PolicyBox(operations: operations, facts.asConditions), least: .yes)
        let most = access(asked, facts, .rules)
        if most.isComplete { return most }
        for detail in [PolicyAccessList.Detail.proofs, .outcome] {
            let list = access(asked, facts, detail)
            if list.isComplete { return list }
        }
        return most
    }

    private func access(
        _ asked: Area, _ facts: PolicyFacts, _ detail: PolicyAccessList.Detail
    ) -> PolicyAccessList {
        let near = policy.near(asked)
        var collector = AccessCollector(ReferenceEvaluator(near), detail, day)
        var open: [Cell] = []
        do throws(Budget.Spent) {
            var budget = Budget(mostCells)
            let maker = try RuleEffectMaker([meanings], near: [asked], &budget)
            let universe = try Universe(maker.boxes, from: day, &budget)
            collector.universe = universe
            collector.ways = WaysIn(near, day: day, universe, isExact: detail == .rules)
            let cells = try universe.cells(of: asked.box, .yes, &budget).map {
                universe.fix($0, to: facts)
            }.filter { !universe.algebra.isEmpty($0) }
            let search = try CellSearch(
                universe, maker, sides: [0], telling: detail.search, &budget)
            try search.search(cells, leaving: &open, &budget) { cell, _ in
                collector.take(cell)
                return false
            }
            return PolicyAccessList(
                accesses: collector.accesses, detail: detail, undecided: nil)
        } catch {
            return PolicyAccessList(
                accesses: collector.accesses, detail: detail,
                undecided: collector.universe?.hull(of: open) ?? [])
        }
    }
}

extension PolicySet {
    /// The set without the rules that match no request of the area.
    fileprivate func near(_ area: Area) -> PolicySet {
        func isNear(_ match: PolicyMatch) -> Bool { match.mayMatter([area], least: .unknown) }
        return PolicySet(
            rules: rules.filter { isNear($0.match) }, closed: closed.filter { isNear($0.match) },
            groups: groups)
    }
}

extension PolicyAccessList.Detail {
    fileprivate var search: CellSearch.Detail {
        switch self {
        case .rules: .rules
        case .proofs: .needs
        case .outcome: .outcome
        }
    }
}

extension PolicyFacts {
    /// One value for each known fact of the question. Known groups and flags also mean that the
    /// others are not there.
    fileprivate var asConditions: [PolicyCondition] {
        var conditions: [PolicyCondition] = []
        for field in TextField.allCases where field != .group {
            if case .known(let texts) = self[field], let text = texts.first {
                conditions.append(.text(field, [.literal(text)]))
            }
        }
        for field in ChoiceField.allCases {
            if case .known(let value) = self[field] {
                conditions.append(.choice(field, mask: 1 << value))
            }
        }
        for field in BooleanField.allCases {
            if case .known(let value) = self[field] { conditions.append(.boolean(field, value)) }
        }
        if case .known(let uid) = uid { conditions.append(.uid([uid...uid])) }
        return conditions
    }
}

/// Collects cells with the same decision. Weak accesses are separate, since a strong one must not
/// hide a weak one.
private struct AccessCollector {
    private struct Key: Hashable {
        let decision: PolicyDecision
        let isWeak: Bool
    }

    private struct Entry {
        let request: PolicyRequest
        let decision: PolicyDecision
        var cells: [Cell]
    }

    var universe: Universe?
    var ways: WaysIn?
    private let evaluator: ReferenceEvaluator
    private let detail: PolicyAccessList.Detail
    private let day: Int32
    private var entries: [Key: Entry] = [:]

    init(_ evaluator: ReferenceEvaluator, _ detail: PolicyAccessList.Detail, _ day: Int32) {
        self.evaluator = evaluator
        self.detail = detail
        self.day = day
    }

    mutating func take(_ cell: Cell) {
        guard let universe else { return }
        let request = universe.witness(of: cell, day: day)
        let decision = evaluator.decide(request)
        guard decision.outcome != .deny else { return }
        let isWeak = ways?.areWeak(for: request, decision, in: cell) ?? false
        let key = Key(decision: detail.common(decision), isWeak: isWeak)
        entries[key, default: Entry(request: request, decision: decision, cells: [])].cells
            .append(cell)
    }

    /// Sorted: weak accesses first, then by the least requirements.
    var accesses: [PolicyAccess] {
        guard let universe else { return [] }
        let merging = CellMerging(universe)
        let found = entries.map { key, entry in
            var budget = Budget(PolicyAnalysis.mostCells)
            return PolicyAccess(
                request: entry.request, decision: entry.decision,
                areas: merging.merged(entry.cells, &budget)
                    .map { RequestArea(universe, $0, day: day) }.sorted { $0.words < $1.words },
                isWeak: key.isWeak)
        }
        return found.map { access in (Self.key(access), access) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    private static func key(_ access: PolicyAccess) -> [String] {
        [
            access.isWeak ? "0" : "1", access.decision.requires == nil ? "0" : "1",
            access.areas.first?.words ?? "", access.decision.because.map(\.string).joined(),
        ]
    }
}

extension PolicyAccessList.Detail {
    /// The part of a decision in which the requests of one entry agree.
    fileprivate func common(_ decision: PolicyDecision) -> PolicyDecision {
        var common = decision
        // Rules on trial decide nothing, and requirements count alike whether or not the program's
        // user can be asked.
        common.wouldDecide = nil
        if decision.requires != nil { common.outcome = .challenge }
        if self != .rules { common.because = [] }
        if self == .outcome {
            common.outcome = .allow
            common.requires = nil
            common.redacted = []
            common.audit = .decision
        }
        return common
    }
}
