// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// Who is let do something, or what somebody is let do, and after which proof.
public struct PolicyAccess: Sendable, Hashable {
    public let request: PolicyRequest
    public let decision: PolicyDecision
    /// Field by field what all such requests have in common.
    public let area: [String]
    /// Nothing that a program of the same user could not forge tells these subjects.
    public let isWeak: Bool
}

/// All access, as far as it was found.
public struct PolicyAccessList: Sendable, Hashable {
    public let accesses: [PolicyAccess]
    /// False where the budget ran out: there may be more.
    public let isComplete: Bool
}

extension PolicyAnalysis {
    /// Who may do the operation on the item: the facts of the item's block count.
    public func who(_ operation: PolicyOperation, item: PolicyFacts) -> PolicyAccessList {
        access(PolicyOperations(operation), fixing: .resource, to: item)
    }

    /// What the subject may do: the facts of the subject's block count.
    public func can(_ subject: PolicyFacts) -> PolicyAccessList {
        access(.all, fixing: .subject, to: subject)
    }

    private func access(
        _ operations: PolicyOperations, fixing block: PolicyBlock, to facts: PolicyFacts
    ) -> PolicyAccessList {
        var asked = PolicyBox(operations: operations)
        if block == .resource, case .known(let value) = facts[.itemClass] {
            asked.conditions.append(.choice(.itemClass, mask: 1 << value))
        }
        if block == .subject {
            let isMember = PolicyCondition.boolean(.member, true).truth(of: facts) == .yes
            asked.conditions.append(.boolean(.member, isMember))
        }
        let meanings = policy.meanings(on: day).compactMap { $0.fixed(block, to: facts) }
        let maker = FacetMaker([meanings], near: [asked])
        guard let universe = Universe(maker.boxes) else {
            return PolicyAccessList(accesses: [], isComplete: false)
        }
        var collector = AccessCollector(universe, policy, block, facts, day)
        var isComplete = true
        do {
            var search = try CellSearch(
                universe, maker.facets, sides: [0], everythingCounts: true, Budget(mostCells))
            try search.search(universe.cells(of: asked)) { cell, _ in
                collector.take(cell)
                return false
            }
        } catch {
            isComplete = false
        }
        return PolicyAccessList(accesses: collector.accesses, isComplete: isComplete)
    }
}

/// Puts cells with the same decision together.
private struct AccessCollector {
    private let universe: Universe
    private let evaluator: ReferenceEvaluator
    private let block: PolicyBlock
    private let facts: PolicyFacts
    private let day: Int32
    private var cells: [PolicyDecision: (request: PolicyRequest, hull: Cell)] = [:]

    init(
        _ universe: Universe, _ policy: PolicySet, _ block: PolicyBlock, _ facts: PolicyFacts,
        _ day: Int32
    ) {
        self.universe = universe
        evaluator = ReferenceEvaluator(policy)
        self.block = block
        self.facts = facts
        self.day = day
    }

    mutating func take(_ cell: Cell) {
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
            let area = universe.words(for: found.hull)
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
        let grants = [FacetKind.permit, .share, .member].contains(kind)
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
