// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicyLanguage

/// Tests and the set that they run against. To find the effect of changing one statement, only
/// those tests are run again in which the statement applies either before or after the change, but
/// not both.
struct TestBench {
    /// A statement that newly applies to the only case of a test. Apart from its name, which no
    /// test expects there, it acts like any other with the effect and mode; a nil effect is a
    /// scope.
    private struct Newcomer: Hashable {
        let effect: PolicyEffect?
        let mode: PolicyMode
    }

    let policy: PolicySet
    let tests: [PolicyTest]
    private var index: CaseIndex
    /// For each case its test.
    private let owners: [Int]
    /// The cases that are the only ones of their tests.
    private let single: CaseSet
    /// For each test the groups of its items, and the rules and scopes that may apply, whether or
    /// not its program is a member.
    private let groupsOf: [[GroupMembership]]
    private var rulesOf: [[Int]]
    private var scopesOf: [[Int]]
    /// The single cases in which such a statement is known to leave the expected result unchanged.
    private var unmoved: [Newcomer: CaseSet] = [:]

    init(_ policy: PolicySet, _ tests: [PolicyTest]) {
        self.policy = policy
        self.tests = tests
        let groups = Dictionary(grouping: policy.groups, by: \.group)
        groupsOf = tests.map { test in
            let names = test.request.cases.map(\.facts.accessGroup)
            return Set(names.compactMap(\.self)).sorted().flatMap { groups[$0] ?? [] }
        }
        let cases = zip(tests, groupsOf).map { test, groups in
            ReferenceEvaluator(PolicySet(groups: groups)).cases(of: test.request)
        }
        let index = CaseIndex(cases.flatMap(\.self))
        let owners = cases.enumerated().flatMap { test, cases in cases.map { _ in test } }
        var single = CaseSet(of: owners.count)
        for (number, test) in owners.enumerated() where cases[test].count == 1 {
            single.insert(number)
        }
        self.index = index
        self.owners = owners
        self.single = single
        rulesOf = tests.map { _ in [] }
        scopesOf = rulesOf
        for (place, rule) in policy.rules.enumerated() {
            for test in self.tests(of: near(rule.match)) { rulesOf[test].append(place) }
        }
        for (place, scope) in policy.closed.enumerated() {
            for test in self.tests(of: near(scope.match)) { scopesOf[test].append(place) }
        }
    }

    /// The cases that it may match, with either membership.
    private mutating func near(_ match: PolicyMatch) -> CaseSet {
        match.parts.map(\.part).filter { !match.tellsMembers($0) }.reduce(index.everything) {
            $0 & index.meeting($1, of: match, certainly: false)
        }
    }

    /// Ascending.
    private func tests(of cases: CaseSet) -> [Int] {
        var found: [Int] = []
        for number in cases where found.last != owners[number] { found.append(owners[number]) }
        return found
    }

    private mutating func meeting(_ rule: PolicyRule) -> CaseSet {
        index.meeting(rule.match, certainly: rule.effect.grants)
    }

    /// Whether a test fails with this rule in place of the existing one; nil removes it.
    mutating func notices(_ rule: PolicyRule?, at place: Int) -> Bool {
        let old = policy.rules[place]
        let before = meeting(old)
        let after = rule.map { meeting($0) } ?? CaseSet(of: owners.count)
        let changed = rule?.effect == old.effect ? before ^ after : before | after
        let newcomer = rule.map { Newcomer(effect: $0.effect.withoutReason, mode: $0.mode) }
        return notices(changed, before, newcomer) { set in
            set.rules.removeAll { $0.id == old.id }
            if let rule { set.rules.append(rule) }
        }
    }

    mutating func notices(_ scope: ClosedScope?, at place: Int) -> Bool {
        let old = policy.closed[place]
        let before = index.meeting(old.match, certainly: false)
        let after = scope.map { index.meeting($0.match, certainly: false) }
        let newcomer = scope.map { Newcomer(effect: nil, mode: $0.mode) }
        return notices(before ^ (after ?? CaseSet(of: owners.count)), before, newcomer) { set in
            set.closed.removeAll { $0.id == old.id }
            if let scope { set.closed.append(scope) }
        }
    }

    mutating func notices(_ group: GroupMembership?, at place: Int) -> Bool {
        let old = policy.groups[place]
        let changed = joining(old) ^ (group.map { joining($0) } ?? CaseSet(of: owners.count))
        return tests(of: changed).contains { test in
            fails(test) { set in
                set.groups.removeAll { $0.id == old.id }
                if let group { set.groups.append(group) }
            }
        }
    }

    /// Whether a test of these cases fails.
    private mutating func notices(
        _ changed: CaseSet, _ before: CaseSet, _ newcomer: Newcomer?,
        _ change: (inout PolicySet) -> Void
    ) -> Bool {
        guard let newcomer else { return tests(of: changed).contains { fails($0, change) } }
        let added = (changed & single) - before
        var unmoved = unmoved[newcomer, default: CaseSet(of: owners.count)]
        defer { self.unmoved[newcomer] = unmoved }
        for number in changed - (added & unmoved) {
            if fails(owners[number], change) { return true }
            if added.contains(number) { unmoved.insert(number) }
        }
        return false
    }

    /// The cases whose programs the group makes members.
    private mutating func joining(_ group: GroupMembership) -> CaseSet {
        var joined = CaseSet(of: owners.count)
        for member in group.members {
            let box = PolicyBox(operations: group.operations, member)
            joined = joined | index.truths(of: box).certain
        }
        var own = CaseSet(of: owners.count)
        for number in index.naming(group.group, as: .accessGroup) { own.insert(number) }
        return joined & own
    }

    private func fails(_ test: Int, _ change: (inout PolicySet) -> Void) -> Bool {
        var set = PolicySet(
            rules: rulesOf[test].map { policy.rules[$0] },
            closed: scopesOf[test].map { policy.closed[$0] }, groups: groupsOf[test])
        change(&set)
        let decision = ReferenceEvaluator(set).decide(tests[test].request)
        return !tests[test].expected.differences(decision).isEmpty
    }

    /// The coverage of a statement by the cases.
    struct Seen {
        /// Whether a case meets it.
        let isMet: Bool
        /// For each part, whether a case meets all other parts but not this one.
        let decisive: [Bool]
    }

    mutating func seen(of statement: PolicyStatement) -> Seen {
        let certainly = statement.effect?.grants ?? false
        let parts = statement.match.parts.map {
            index.meeting($0.part, of: statement.match, certainly: certainly)
        }
        var all = index.everything
        var allButOne = CaseSet(of: owners.count)
        for part in parts {
            allButOne = (allButOne & part) | (all - part)
            all = all & part
        }
        let decisive = parts.dropLast(statement.hiddenParts).map { !(allButOne - $0).isEmpty }
        return Seen(isMet: !all.isEmpty, decisive: decisive)
    }
}

extension PolicyFacts {
    fileprivate var accessGroup: PolicyText? {
        if case .known(let texts) = self[.accessGroup] { texts.first } else { nil }
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
