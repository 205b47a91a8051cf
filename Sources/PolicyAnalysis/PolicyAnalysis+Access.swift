// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
package import KeychainPolicyModel

/// Which programs may do something, or what a program may do, and after which proof.
package struct PolicyAccess: Sendable, Hashable {
    package let request: PolicyRequest
    package let decision: PolicyDecision
    /// Field by field what all such requests have in common.
    package let area: [String]
    /// Nothing that a program of the same user could not forge tells these subjects.
    package let isWeak: Bool
}

/// All access, as far as it was found.
package struct PolicyAccessList: Sendable, Hashable {
    package let accesses: [PolicyAccess]
    /// False where the budget ran out: there may be more.
    package let isComplete: Bool
}

extension PolicyAnalysis {
    /// Who may do the operation on the item: the facts of the item's block count.
    package func who(_ operation: PolicyOperation, item: PolicyFacts) -> PolicyAccessList {
        access(PolicyOperations(operation), fixing: .resource, to: item)
    }

    /// What the subject may do: the facts of the subject's block count.
    package func can(_ subject: PolicyFacts) -> PolicyAccessList {
        access(.all, fixing: .subject, to: subject)
    }

    private func access(
        _ operations: PolicyOperations, fixing block: PolicyBlock, to facts: PolicyFacts
    ) -> PolicyAccessList {
        let asked = Area(box: PolicyBox(operations: operations), least: .yes)
        let own = meanings.compactMap { $0.fixed(block, to: facts) }
        var collector = AccessCollector(policy, block, facts, day)
        var isComplete = true
        do throws(Budget.Spent) {
            var budget = Budget(mostCells)
            let maker = try RuleEffectMaker([own], near: [asked], &budget)
            let universe = try Universe(maker.boxes, &budget)
            collector.universe = universe
            let cells = try universe.cells(of: asked.box, .yes, &budget).map {
                universe.fix($0, block, to: facts)
            }
            let search = try CellSearch(
                universe, maker, sides: [0], everythingCounts: true, &budget)
            try search.search(cells, &budget) { cell, _ in
                collector.take(cell)
                return false
            }
        } catch {
            isComplete = false
        }
        return PolicyAccessList(accesses: collector.accesses, isComplete: isComplete)
    }
}

extension Universe {
    /// The cell's requests with that class, or that membership: the conditions on a block's fields
    /// that stay when its facts are given.
    fileprivate func fix(_ cell: Cell, _ block: PolicyBlock, to facts: PolicyFacts) -> Cell {
        var cells = [cell]
        switch block {
        case .resource:
            keep(&cells, .choice(.itemClass)) {
                Self.facts(of: [$0])[.itemClass] == facts[.itemClass]
            }
        case .subject:
            let given = facts[.member] == .known(true) ? .absent : facts[.member]
            keep(&cells, .boolean(.member)) { Self.facts(of: [$0])[.member] == given }
        case .environment: break
        }
        return cells.first ?? cell
    }
}

/// Puts cells with the same decision together.
private struct AccessCollector {
    var universe: Universe?
    private let evaluator: ReferenceEvaluator
    private let block: PolicyBlock
    private let facts: PolicyFacts
    private let day: Int32
    private var cells: [PolicyDecision: (request: PolicyRequest, hull: Cell)] = [:]

    init(
        _ policy: PolicySet, _ block: PolicyBlock, _ facts: PolicyFacts, _ day: Int32
    ) {
        evaluator = ReferenceEvaluator(policy)
        self.block = block
        self.facts = facts
        self.day = day
    }

    mutating func take(_ cell: Cell) {
        guard let universe else { return }
        var request = universe.witness(of: cell, day: day)
        request.facts = request.facts.taking(block, from: facts)
        let decision = evaluator.decide(request)
        guard decision.outcome != .deny else { return }
        guard let known = cells[decision] else {
            cells[decision] = (request, cell)
            return
        }
        let hull = Cell(words: zip(known.hull.words, cell.words).map { $0 | $1 })
        cells[decision] = (known.request, hull)
    }

    /// The weakest first, then those that need least.
    var accesses: [PolicyAccess] {
        cells.map { decision, found in
            let area = universe?.words(for: found.hull) ?? []
            let isWeak = !area.contains { line in
                Self.strong.contains { line.hasPrefix("subject.\($0):") }
            }
            return PolicyAccess(
                request: found.request, decision: decision, area: area, isWeak: isWeak)
        }.sorted { a, b in
            let key = { (access: PolicyAccess) in
                (
                    access.isWeak ? 0 : 1, access.decision.outcome == .allow ? 0 : 1,
                    access.area.joined(), access.decision.because.map(\.string).joined()
                )
            }
            return key(a) < key(b)
        }
    }

    private static let strong = [
        "user", "uid", "group", "trusted-exe", "unit", "slice", "app", "label", "session", "member",
    ]
}

extension Meaning {
    /// The statement for requests with these facts: conditions that they meet fall away; nil where
    /// it matches none of them.
    fileprivate func fixed(_ block: PolicyBlock, to facts: PolicyFacts) -> Meaning? {
        let grants = kind.least == .yes
        guard let box = match.box.fixed(block, to: facts, grants: grants) else { return nil }
        let exceptions = match.exceptions.compactMap {
            $0.fixed(block, to: facts, grants: !grants)
        }
        return Meaning(kind: kind, match: PolicyMatch(box, unless: exceptions))
    }
}

extension PolicyBox {
    /// The class and membership stay: they decide more than rules say.
    fileprivate func fixed(
        _ block: PolicyBlock, to facts: PolicyFacts, grants: Bool
    ) -> PolicyBox? {
        var left = PolicyBox(operations: operations)
        for condition in conditions {
            let isOther = !condition.fieldName.hasPrefix(block.rawValue + ".")
            if isOther || condition.isStaying {
                left.conditions.append(condition)
                continue
            }
            let truth = condition.truth(of: facts)
            guard truth == .yes || (truth == .unknown && !grants) else { return nil }
        }
        return left
    }
}

extension PolicyCondition {
    fileprivate var isStaying: Bool {
        switch self {
        case .boolean(.member, _), .choice(.itemClass, _): true
        default: false
        }
    }
}

extension PolicyFacts {
    /// These facts with those of a block from others; membership only where they tell it.
    fileprivate func taking(_ block: PolicyBlock, from other: PolicyFacts) -> PolicyFacts {
        if block == .resource { return with(item: other) }
        var mixed = other.with(item: self)
        for field in TextField.allCases where field.block == .environment {
            mixed[field] = self[field]
        }
        for field in BooleanField.allCases where field.block == .environment {
            mixed[field] = self[field]
        }
        for field in AgeField.allCases { mixed[field] = self[field] }
        mixed.time = time
        return mixed
    }
}
