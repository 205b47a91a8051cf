// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyEngine
public import KeychainPolicyModel

/// Why a set can't be compiled.
public enum PolicyCompilationError: Error, Sendable, Hashable {
    case tooManyRules(limit: Int)
    case tooManyRedactedAttributes(limit: Int)
    case tooManyValues(limit: Int)
    case requirementTooDeep(limit: Int)
}

/// Makes the image of a set.
struct PolicyCompilation {
    private var symbols = SymbolTable()
    private let breakpoints: [Breakpoints]
    private var demands = Interned<PolicyDemand>()
    private var redactions = Interned<UInt64>()
    private var attributes = Interned<PolicyText>()
    private var files = Interned<PolicyText>()
    private var trees = TreeWriter()
    private var limits: [UInt32] = []
    private var limitKeys: [UInt32] = []
    private var statements: [UInt32] = []
    private var conditions: [UInt32] = []
    private var provenance: [UInt32] = []
    private var indexed: [IndexedStatement] = []

    static func image(of policy: PolicySet) throws(PolicyCompilationError) -> PolicyImage {
        var compilation = PolicyCompilation(policy)
        return try compilation.image(policy)
    }

    private init(_ policy: PolicySet) {
        var ranges: [NumberDimension: [ClosedRange<Int64>]] = [:]
        for statement in Source.all(policy) {
            let boxes = [statement.match.box] + statement.match.exceptions
            for condition in boxes.flatMap(\.conditions) {
                guard let (number, own) = condition.numbers else { continue }
                ranges[number, default: []] += own
            }
        }
        breakpoints = NumberDimension.allCases.map { Breakpoints(ranges[$0] ?? []) }
    }

    private mutating func image(
        _ policy: PolicySet
    ) throws(PolicyCompilationError) -> PolicyImage {
        let sources = Source.all(policy)
        guard sources.count < EntryHead.mostStatements else {
            throw .tooManyRules(limit: EntryHead.mostStatements)
        }
        for source in sources { try add(source) }
        guard attributes.values.count <= PolicySet.mostRedactedAttributes else {
            throw .tooManyRedactedAttributes(limit: PolicySet.mostRedactedAttributes)
        }
        return try laidOut()
    }

    private mutating func add(_ source: Source) throws(PolicyCompilationError) {
        let number = statements.count / 4
        let payload = try payload(of: source)
        let match = CompiledMatch(source.match, &symbols, breakpoints)
        var kind = source.kind.rawValue
        var end: UInt32 = 0
        if case .permissive(let day) = source.mode {
            kind |= CompiledPolicy.permissive
            end = UInt32(bitPattern: day)
        }
        statements += [kind, payload, end, UInt32(conditions.count)]
        conditions += match.words
        provenance += symbols.place(source.id) + symbols.place(PolicyText(source.reason))
        provenance += [
            files.number(of: PolicyText(source.origin.file)),
            UInt32(clamping: source.origin.line), UInt32(clamping: source.origin.column),
            UInt32(clamping: source.origin.level),
        ]
        // A rule that asks for the audit level of every decision is only for `explain`.
        guard source.effect != .audit(.decision) else { return }
        let head = EntryHead(
            statement: number, kind: source.kind, isPermissive: source.mode != .enforce)
        indexed.append(IndexedStatement(head: head, kind: source.kind, match: match))
    }

    private mutating func payload(
        of source: Source
    ) throws(PolicyCompilationError) -> UInt32 {
        switch source.effect {
        case .require(let demand):
            try check(demand.constraint)
            return demands.number(of: demand)
        case .redact(let names):
            var mask: UInt64 = 0
            for name in names {
                let place = attributes.number(of: name)
                guard place < UInt32(PolicySet.mostRedactedAttributes) else {
                    throw .tooManyRedactedAttributes(limit: PolicySet.mostRedactedAttributes)
                }
                mask |= 1 << UInt64(place)
            }
            return redactions.number(of: mask)
        case .limit(let limit): return try add(limit)
        case .permit, .forbid, .share, .audit: return 0
        case nil: return source.isHome ? 1 : 0
        }
    }

    private mutating func add(_ limit: PolicyLimit) throws(PolicyCompilationError) -> UInt32 {
        let number = limits.count / 6
        let firstKey = limitKeys.count / 2
        for key in limit.keys { limitKeys += symbols.place(key) }
        var demand: UInt32 = 0
        if case .require(let constraint) = limit.then {
            try check(constraint)
            demand = demands.number(of: PolicyDemand(constraint)) + 1
        }
        limits += [limit.count] + PolicyImage.halves(UInt64(bitPattern: limit.per.milliseconds))
        limits += [UInt32(firstKey), UInt32(limit.keys.count), demand]
        return UInt32(number)
    }

    private func check(_ constraint: PolicyConstraint) throws(PolicyCompilationError) {
        guard constraint.depth <= PolicyConstraint.mostDepth else {
            throw .requirementTooDeep(limit: PolicyConstraint.mostDepth)
        }
    }

    private mutating func laidOut() throws(PolicyCompilationError) -> PolicyImage {
        guard symbols.largestField < Int(Dimension.mostFacts) else {
            throw .tooManyValues(limit: Int(Dimension.mostFacts))
        }
        var sections: [PolicyImage.Section: [UInt32]] = [:]
        var demandWords: [UInt32] = []
        for demand in demands.values {
            demandWords.append(trees.write(demand.constraint))
            demandWords.append(UInt32(demand.scope.rawValue))
            demandWords += PolicyImage.halves(UInt64(bitPattern: demand.within.milliseconds))
        }
        sections[.demands] = demandWords
        sections[.trees] = trees.words
        sections[.services] = trees.services.values.flatMap { symbols.place($0) }
        sections[.attributes] = attributes.values.flatMap { symbols.place($0) }
        sections[.files] = files.values.flatMap { symbols.place($0) }
        sections[.redactions] = redactions.values.flatMap(PolicyImage.halves)
        sections[.limits] = limits
        sections[.limitKeys] = limitKeys
        sections[.statements] = statements
        sections[.conditions] = conditions
        sections[.provenance] = provenance
        var breakpointPlaces: [UInt32] = []
        var breakpointCount = 0
        for own in breakpoints {
            breakpointPlaces += [UInt32(breakpointCount), UInt32(own.count)]
            breakpointCount += own.count
        }
        sections[.breakpointPlaces] = breakpointPlaces
        sections[.breakpoints] = breakpoints.flatMap(\.words)
        sections.merge(index()) { $1 }
        sections.merge(symbols.sections()) { $1 }
        return PolicyImage(sections)
    }

    /// One index for each purpose.
    private func index() -> [PolicyImage.Section: [UInt32]] {
        var builder = IndexBuilder(symbols, statements: indexed.count)
        var summary: [UInt32] = []
        for purpose in IndexPurpose.allCases {
            let part = indexed.filter { IndexPurpose($0.kind) == purpose }
            let root = builder.addRoot(part)
            summary += [root.node, UInt32(clamping: root.mostCandidates), UInt32(part.count)]
        }
        return [
            .entries: builder.entries, .nodes: builder.nodes, .slots: builder.slots,
            .summary: summary,
        ]
    }
}

/// A rule, scope or membership in the common form of the compilation.
private struct Source {
    let id: PolicyText
    let origin: PolicyOrigin
    let kind: StatementKind
    let mode: PolicyMode
    let effect: PolicyEffect?
    let match: PolicyMatch
    /// For a membership: the members' new items belong to the group.
    var isHome = false

    /// All statements by id; a statement's number is its index here.
    static func all(_ policy: PolicySet) -> [Source] {
        let rules = policy.rules.map { rule in
            Source(
                id: rule.id, origin: rule.origin, kind: StatementKind(rule.effect),
                mode: rule.mode, effect: rule.effect, match: rule.match)
        }
        let scopes = policy.closed.map { scope in
            Source(
                id: scope.id, origin: scope.origin, kind: .closed, mode: scope.mode, effect: nil,
                match: scope.match)
        }
        return (rules + scopes + policy.groups.flatMap(memberships)).sorted { a, b in
            a.id == b.id ? a.kind.rawValue < b.kind.rawValue : a.id < b.id
        }
    }

    private static func memberships(_ group: GroupMembership) -> [Source] {
        group.members.map { member in
            let item = PolicyCondition.text(.accessGroup, [.literal(group.group)])
            let box = PolicyBox(operations: group.operations, member + [item])
            return Source(
                id: group.id, origin: group.origin, kind: .membership, mode: .enforce,
                effect: nil, match: PolicyMatch(box), isHome: group.isHome)
        }
    }

    var reason: String {
        switch effect {
        case .permit(let reason), .forbid(let reason), .share(let reason): reason
        default: ""
        }
    }
}

extension StatementKind {
    fileprivate init(_ effect: PolicyEffect) {
        switch effect {
        case .forbid: self = .forbid
        case .require: self = .require
        case .permit: self = .permit
        case .share: self = .share
        case .redact: self = .redact
        case .audit: self = .audit
        case .limit: self = .limit
        }
    }
}

extension CompiledPolicy {
    /// `policy` must have been checked.
    public init(_ policy: PolicySet) throws(PolicyCompilationError) {
        self.init(try PolicyCompilation.image(of: policy))
    }
}
