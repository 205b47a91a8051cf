// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyRequestSpace

/// What is decided alike of some requests that are not refused.
package struct PolicyAccess: Sendable {
    /// One of the requests.
    package let request: PolicyRequest
    /// What is decided of it, and, as far as `detail` goes, of all.
    package let decision: PolicyDecision
    /// Where all such requests lie; none is in two of the areas.
    package let areas: [RequestArea]
    /// It rests on names that a program of the same user could take, and on none that it could not.
    package let isWeak: Bool
}

/// All access, as far as it was found.
package struct PolicyAccessList: Sendable {
    /// How much the requests of one entry have in common.
    package enum Detail: String, Sendable {
        /// The whole decision.
        case rules
        /// What has to be proved; the rules are those of the example.
        case proofs
        /// That they are not refused; proofs and rules are those of the example.
        case outcome
    }

    package let accesses: [PolicyAccess]
    package let detail: Detail
    /// In which area requests were not looked at; nil where all were.
    package let undecided: [AreaField]?
    package var isComplete: Bool { undecided == nil }
}

extension PolicyAnalysis {
    /// Who may do the operation on items with these facts, whatever their others are.
    package func who(_ operation: PolicyOperation, item: PolicyFacts) -> PolicyAccessList {
        access(PolicyOperations(operation), of: item)
    }

    /// What subjects with these facts may do, whatever their others are.
    package func can(_ subject: PolicyFacts) -> PolicyAccessList {
        access(.all, of: subject)
    }

    /// What takes too long to be told exactly is told in less detail.
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
        var collector = AccessCollector(
            ReferenceEvaluator(policy.near(asked)), detail, day, told: facts.toldFields)
        var open: [Cell] = []
        do throws(Budget.Spent) {
            var budget = Budget(mostCells)
            let maker = try RuleEffectMaker([meanings], near: [asked], &budget)
            let universe = try Universe(maker.boxes, &budget)
            collector.universe = universe
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
    /// The set without rules that match no request of the area.
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
    /// What a question tells: one value of each fact that is known. Which groups and flags are
    /// known tells of the others too that they are not there.
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

    /// The fields that every area has because the question says them.
    fileprivate var toldFields: Set<String> {
        var names = Set(asConditions.map(\.fieldName))
        if case .known = self[.group] { names.insert("subject.group") }
        return names
    }
}

/// Puts cells with the same decision together.
private struct AccessCollector {
    var universe: Universe?
    private let evaluator: ReferenceEvaluator
    private let detail: PolicyAccessList.Detail
    private let day: Int32
    private let told: Set<String>
    private var cells: [PolicyDecision: [Cell]] = [:]
    private var examples: [PolicyDecision: (request: PolicyRequest, decision: PolicyDecision)] =
        [:]

    init(
        _ evaluator: ReferenceEvaluator, _ detail: PolicyAccessList.Detail, _ day: Int32,
        told: Set<String>
    ) {
        self.told = told
        self.evaluator = evaluator
        self.detail = detail
        self.day = day
    }

    mutating func take(_ cell: Cell) {
        guard let universe else { return }
        let request = universe.witness(of: cell, day: day)
        let decision = evaluator.decide(request)
        guard decision.outcome != .deny else { return }
        let key = detail.common(decision)
        cells[key, default: []].append(cell)
        if examples[key] == nil { examples[key] = (request, decision) }
    }

    /// The weakest first, then those that need least.
    var accesses: [PolicyAccess] {
        guard let universe else { return [] }
        let merging = CellMerging(universe)
        let found = cells.flatMap { key, cells -> [PolicyAccess] in
            guard let example = examples[key] else { return [] }
            var budget = Budget(PolicyAnalysis.mostCells)
            let areas = merging.merged(cells, &budget)
                .map { RequestArea(universe, $0, day: day) }.sorted { $0.words < $1.words }
            // A strong way in must not hide that there is a weak one too.
            return [true, false].compactMap { isWeak in
                let own = areas.filter { $0.isWeak(besides: told) == isWeak }
                guard let first = own.first else { return nil }
                let isFirst = own.count == areas.count
                let request = isFirst ? example.request : first.example
                return PolicyAccess(
                    request: request,
                    decision: isFirst ? example.decision : evaluator.decide(request),
                    areas: own, isWeak: isWeak)
            }
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
    /// What of a decision the requests of one entry have in common.
    fileprivate func common(_ decision: PolicyDecision) -> PolicyDecision {
        var common = decision
        // What is on trial decides nothing, and what is needed is the same whether or not the
        // program can be asked for it.
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

extension RequestArea {
    /// Names a program by what a program of the same user can take over, and by nothing that it
    /// can't. Of whom the user is that tells nothing, and of fields that the question says nor do
    /// they.
    fileprivate func isWeak(besides told: Set<String>) -> Bool {
        let names = Set(fields.filter(\.isNamed).map(\.name)).subtracting(told)
        return !names.isDisjoint(with: Self.weak) && names.isDisjoint(with: Self.strong)
    }

    private static let weak = named(["exe", "trusted-exe", "digest", "user-unit", "tty"])
    private static let strong = named(["unit", "slice", "app", "label"])

    private static func named(_ fields: [String]) -> Set<String> {
        Set(fields.map { "subject." + $0 })
    }
}
