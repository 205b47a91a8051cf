// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyLanguage

/// Tests and the set that they run against, and of each statement the tests that it is near to: all
/// its parts hold but one at most. No other test tells whether one part of it is another.
struct TestBench {
    typealias Case = (operation: PolicyOperation, facts: PolicyFacts)

    let policy: PolicySet
    let tests: [PolicyTest]
    /// Of each test all that its request must pass.
    let cases: [[Case]]
    /// Of each rule, and of each closed scope, the tests near to it.
    private(set) var nearRules: [[Int]] = []
    private(set) var nearScopes: [[Int]] = []
    /// Of each test the rules and scopes that may match it, with each membership.
    private var rulesOf: [[Int]]
    private var scopesOf: [[Int]]
    /// By the text that a case has there, or might have.
    private var byText: [TextField: [PolicyText: Set<Int>]] = [:]
    private var unknown: [TextField: Set<Int>] = [:]

    init(_ policy: PolicySet, _ tests: [PolicyTest]) {
        self.policy = policy
        self.tests = tests
        let evaluator = ReferenceEvaluator(policy)
        cases = tests.map { evaluator.cases(of: $0.request) }
        rulesOf = tests.map { _ in [] }
        scopesOf = rulesOf
        for (test, cases) in cases.enumerated() {
            for (_, facts) in cases { index(facts, test) }
        }
        for (place, rule) in policy.rules.enumerated() {
            let (near, meeting) = near(rule.match)
            nearRules.append(near)
            for test in meeting { rulesOf[test].append(place) }
        }
        for (place, scope) in policy.closed.enumerated() {
            let (near, meeting) = near(scope.match)
            nearScopes.append(near)
            for test in meeting { scopesOf[test].append(place) }
        }
    }

    private mutating func index(_ facts: PolicyFacts, _ test: Int) {
        for field in TextField.allCases {
            switch facts[field] {
            case .absent: break
            case .unknown: unknown[field, default: []].insert(test)
            case .known(let texts):
                for text in texts { byText[field, default: [:]][text, default: []].insert(test) }
            }
        }
    }

    /// The tests that it is near to, and those that it may match.
    func near(_ match: PolicyMatch) -> (near: [Int], meeting: [Int]) {
        let parts = match.parts.map { (part: $0.part, tellsMembers: match.tellsMembers($0.part)) }
        var near: [Int] = []
        var meeting: [Int] = []
        for test in candidates(match) {
            let failing = cases[test].map { operation, facts in
                Self.failing(match, parts, operation, facts)
            }
            if failing.contains(where: { $0.all <= 1 }) { near.append(test) }
            if failing.contains(where: { $0.others == 0 }) { meeting.append(test) }
        }
        return (near, meeting)
    }

    private static func failing(
        _ match: PolicyMatch, _ parts: [(part: MatchPart, tellsMembers: Bool)],
        _ operation: PolicyOperation, _ facts: PolicyFacts
    ) -> (all: Int, others: Int) {
        var failing = (all: 0, others: 0)
        for (part, tellsMembers) in parts where match.truth(part, operation, facts) == .no {
            failing.all += 1
            if !tellsMembers { failing.others += 1 }
            if failing.others > 1 { break }
        }
        return failing
    }

    /// Of two fields of which it names texts one at least must have one of them.
    private func candidates(_ match: PolicyMatch) -> [Int] {
        let named = match.box.conditions.compactMap { condition -> Set<Int>? in
            guard case .text(let field, let patterns) = condition else { return nil }
            return patterns.reduce(unknown[field] ?? []) { found, pattern in
                guard let known = found, case .literal(let text) = pattern else { return nil }
                return known.union(byText[field]?[text] ?? [])
            }
        }.sorted { $0.count < $1.count }
        return named.count < 2 ? Array(tests.indices) : named[0].union(named[1]).sorted()
    }

    /// Whether one of the tests fails with this instead of what stands there; nil: with nothing.
    func notices(_ rule: PolicyRule?, at place: Int) -> Bool {
        nearRules[place].contains { test in
            var set = set(near: test, withoutRule: place)
            if let rule { set.rules.append(rule) }
            return fails(test, set)
        }
    }

    func notices(_ scope: ClosedScope?, at place: Int) -> Bool {
        nearScopes[place].contains { test in
            var set = set(near: test, withoutScope: place)
            if let scope { set.closed.append(scope) }
            return fails(test, set)
        }
    }

    func notices(_ group: GroupMembership?, at place: Int) -> Bool {
        (byText[.accessGroup]?[policy.groups[place].group] ?? []).contains { test in
            var set = set(near: test)
            set.groups = policy.groups
            set.groups[place].members = []
            if let group { set.groups[place] = group }
            return fails(test, set)
        }
    }

    /// What decides the test.
    private func set(
        near test: Int, withoutRule rule: Int? = nil, withoutScope scope: Int? = nil
    ) -> PolicySet {
        PolicySet(
            rules: rulesOf[test].filter { $0 != rule }.map { policy.rules[$0] },
            closed: scopesOf[test].filter { $0 != scope }.map { policy.closed[$0] },
            groups: policy.groups.filter { group in
                cases[test].contains { $0.facts[.accessGroup] == .known([group.group]) }
            })
    }

    private func fails(_ test: Int, _ set: PolicySet) -> Bool {
        let decision = ReferenceEvaluator(set).decide(tests[test].request)
        return !tests[test].expected.differences(decision).isEmpty
    }
}

extension PolicyMatch {
    fileprivate func tellsMembers(_ part: MatchPart) -> Bool {
        func tells(_ conditions: some Sequence<PolicyCondition>) -> Bool {
            conditions.contains { if case .boolean(.member, _) = $0 { true } else { false } }
        }
        return switch part {
        case .operations: false
        case .condition(let place): tells([box.conditions[place]])
        case .exception(let place): tells(exceptions[place].conditions)
        }
    }
}
