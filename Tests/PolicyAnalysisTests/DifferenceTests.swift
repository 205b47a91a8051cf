// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import Testing

@Suite struct `The difference of two sets` {
    private func changes(_ old: PolicySet, _ new: PolicySet) -> [PolicyChange] {
        let difference = PolicyAnalysis(old, day: today).difference(to: new)
        #expect(difference.isComplete)
        return difference.changes
    }

    @Test func `is nothing where only text changed`() {
        let old = PolicySet(rules: [rule("a", .forbid("One."), .write, literal(.exe, "x"))])
        let new = PolicySet(rules: [rule("b", .forbid("Two."), .write, literal(.exe, "x"))])
        #expect(changes(old, new).isEmpty)
    }

    @Test func `is nothing where other rules decide what a widened rule adds`() {
        let wide = rule("w", .forbid(""), .all, .boolean(.remote, true))
        let old = PolicySet(rules: [wide, rule("n", .forbid(""), .all, literal(.exe, "x"))])
        let remote = PolicyBox([.boolean(.remote, false)])
        let new = PolicySet(rules: [
            wide, rule("n", .forbid(""), .all, literal(.exe, "x", "y"), unless: [remote]),
            rule("o", .forbid(""), .all, literal(.exe, "x")),
        ])
        #expect(changes(old, new).isEmpty)
    }

    @Test func `names new access with a request`() throws {
        let old = PolicySet(rules: [rule("f", .forbid(""), .all, literal(.exe, "x", "y"))])
        let new = PolicySet(rules: [rule("f", .forbid(""), .all, literal(.exe, "x"))])
        let change = try #require(changes(old, new).first)
        #expect(change.kind == .newlyAllowed)
        #expect(change.isNewAccess && !change.needsLess)
        #expect(change.request.facts[.exe] == .known(["y"]))
        #expect(change.areas.map(\.words) == ["subject.exe: y; subject.member: true"])
        #expect(change.statements.map(\.fate) == [.changed])
        #expect(changes(new, old).map(\.kind) == [.newlyDenied])
    }

    @Test func `names what is needed, and that less is`() {
        let none = PolicySet()
        let some = PolicySet(rules: [rule("r", passcode, PolicyOperations(.sign))])
        let late = PolicySet(rules: [
            rule(
                "r", .require(PolicyDemand(.factor(.passcode), within: .minutes(5))),
                PolicyOperations(.sign))
        ])
        #expect(changes(none, some).map(\.kind) == [.nowNeeds])
        #expect(changes(some, none).map(\.kind) == [.noLongerNeeds])
        #expect(changes(some, late).map(\.kind) == [.noLongerNeeds])
        #expect(changes(some, late).flatMap(\.agings).map(\.after.within) == [.minutes(5)])
        #expect(changes(late, some).flatMap(\.agings).map(\.after.within) == [.zero])
        #expect(changes(none, some).flatMap(\.agings).isEmpty)
    }

    @Test func `is no new access where all that was needed still is`() {
        func needs(_ demand: PolicyDemand) -> PolicySet {
            PolicySet(rules: [rule("r", .require(demand), PolicyOperations(.sign))])
        }
        func least(_ old: PolicyDemand, _ new: PolicyDemand) -> [Bool] {
            changes(needs(old), needs(new)).map { $0.isNewAccess || $0.needsLess }
        }
        let presence = PolicyDemand(.factor(.presence))
        let passcode = PolicyDemand(.factor(.passcode))
        let late = PolicyDemand(.factor(.passcode), within: .minutes(5), scope: .session)
        let both = PolicyDemand(.all([.factor(.passcode), .factor(.confirm)]))
        for (strict, loose) in [(passcode, presence), (passcode, late), (both, passcode)] {
            #expect(least(loose, strict) == [false])
            #expect(least(strict, loose) == [true])
        }
        // A rule that another one's proof implies may go.
        let rules = [rule("p", .require(presence)), rule("q", .require(passcode))]
        let found = changes(PolicySet(rules: rules), PolicySet(rules: [rules[1]]))
        #expect(found.map(\.kind) == [.nowNeeds])
    }

    @Test func `tells changes of how old a proof may be apart`() {
        func needs(_ number: Int64, _ exe: PolicyText) -> PolicyRule {
            let demand = PolicyDemand(.factor(.passcode), within: .minutes(number))
            return rule(
                PolicyText("\(exe)\(number)"), .require(demand), PolicyOperations(.sign),
                literal(.exe, exe))
        }
        let found = changes(
            PolicySet(rules: [needs(1, "x"), needs(2, "x")]),
            PolicySet(rules: [needs(5, "x"), needs(2, "y")]))
        // A program that can't be told needs all that either does.
        #expect(
            Set(found.map { $0.agings.map(\.after.within) })
                == [[.minutes(5)], [.minutes(2)], []])
        let scoped = PolicyDemand(.factor(.passcode), scope: .session)
        let other = changes(
            PolicySet(rules: [rule("r", passcode)]), PolicySet(rules: [rule("r", .require(scoped))])
        )
        #expect(other.flatMap(\.agings).map(\.after.scope) == [.session])
    }

    @Test func `names of each area the statements that match there, and no others`() {
        func group(_ id: PolicyText, _ operations: PolicyOperations, _ exes: PolicyText...)
            -> GroupMembership
        {
            GroupMembership(
                id: id, origin: PolicyOrigin(file: "", line: 1, column: 1, level: 0), group: "dev",
                members: [[.text(.exe, exes.map { .literal($0) })]], operations: operations)
        }
        let gone = [group("gone", .all, "x", "z")]
        let added = [group("x", .read, "x"), group("xy", .all, "x", "y"), group("y", .read, "y")]
        let forbid = rule("f", .forbid(""), .read, literal(.exe, "x"), literal(.service, "s"))
        let found = changes(PolicySet(groups: gone), PolicySet(rules: [forbid], groups: added))
        var random = SplitMix(seed: 75_000)
        var sampled = 0
        for change in found.filter(\.isExact) {
            let ids = Set(change.statements.map(\.id))
            for area in change.areas {
                for _ in 0..<10 {
                    guard let request = area.request(using: &random) else { continue }
                    sampled += 1
                    for group in gone + added {
                        #expect(ids.contains(group.id) == group.takesIn(request), "\(group.id)")
                    }
                    let isForbidden = request.cases.contains {
                        forbid.match.truth(for: $0.operation, $0.facts) >= .unknown
                    }
                    #expect(ids.contains("f") == isForbidden)
                }
            }
        }
        #expect(sampled > 50)
        let named = found.map { $0.statements.map(\.id) }
        #expect(named.contains(["xy", "y"]) && named.contains(["f", "gone", "x", "xy"]))
    }

    @Test func `takes a rule that begins to complain for a widening`() {
        let rule = rule("f", .forbid(""))
        var trial = rule
        trial.mode = .permissive(untilDay: today + 1)
        let found = changes(PolicySet(rules: [rule]), PolicySet(rules: [trial]))
        #expect(found.map(\.kind) == [.newlyAllowed])
        trial.mode = .permissive(untilDay: today)
        #expect(changes(PolicySet(rules: [rule]), PolicySet(rules: [trial])).isEmpty)
    }

    @Test func `is seen where a fact is unknown alone`() throws {
        let everywhere = [true, false].map { PolicyCondition.boolean(.remote, $0) }
        let scopes = [scope("s", literal(.keychain, "k"))]
        let old = PolicySet(
            rules: [
                rule("a", .permit(""), .all, everywhere[0]),
                rule("b", .permit(""), .all, everywhere[1]),
            ], closed: scopes)
        let new = PolicySet(rules: [rule("a", .permit(""))], closed: scopes)
        let change = try #require(changes(old, new).first)
        #expect(changes(old, new).count == 1)
        #expect(change.kind == .newlyAllowed)
        #expect(change.request.facts[.remote] == .unknown)
        #expect(change.before.outcome == .deny)
        #expect(change.after.outcome == .allow)
        #expect(change.areas[0].words.contains("when.remote: unknown"))
    }

    @Test func `is seen where a refusal hung on an unknown fact`() throws {
        let users = PolicyBox([literal(.group, "staff")])
        let old = PolicySet(rules: [rule("f", .forbid(""), .all, unless: [users])])
        let new = PolicySet(rules: [
            rule("f", .forbid(""), .all, literal(.user, "eve"), unless: [users])
        ])
        let change = try #require(changes(old, new).first)
        #expect(change.kind == .newlyAllowed)
        // Who it is must be known not to be eve.
        #expect(change.request.facts[.user] == .absent)
    }

    @Test func `is shown by requests that can be`() {
        let old = PolicySet(
            rules: [rule("p", .permit(""), .all, service)], closed: [scope("s")])
        var new = old
        new.rules = [rule("p", .permit(""), .all, service, literal(.unit, "a"))]
        for change in changes(old, new) { #expect(change.request.isPossible) }
        #expect(!changes(old, new).isEmpty)
        // A service is in a unit, so that it has none can't be what differs.
        new.rules = [rule("p", .permit(""), .all, service, .text(.unit, [.prefix("")]))]
        #expect(changes(old, new).isEmpty)
    }

    private let service = PolicyCondition.choice(
        .session, mask: 1 << (ChoiceField.session.index(of: "service") ?? 0))

    @Test func `is found one statement after the other where together it is too much`() {
        // A user in some of the groups needs some of the proofs: 128 ways.
        let new = PolicySet(
            rules: (0..<7).map { number in
                rule(
                    PolicyText("r\(number)"),
                    .require(PolicyDemand(.pam(PolicyText("keychain-\(number)"), within: nil))),
                    .all, literal(.group, PolicyText("g\(number)")))
            })
        let found = changes(PolicySet(), new)
        #expect(Set(found.map(\.kind)) == [.nowNeeds])
        #expect(found.count < 100)
        #expect(found.contains { !$0.isExact })
        #expect(Set(found.flatMap(\.after.because)).count == 7)
        #expect(Set(changes(new, PolicySet()).map(\.kind)) == [.noLongerNeeds])
    }

    @Test func `names new access first, however it was found`() {
        let old = PolicySet(
            rules: (0..<7).map { number in
                rule(
                    PolicyText("r\(number)"),
                    .require(PolicyDemand(.pam(PolicyText("keychain-\(number)"), within: nil))),
                    .all, literal(.group, PolicyText("g\(number)")))
            })
        let new = PolicySet(rules: [rule("f", .forbid(""), .all, literal(.exe, "x"))])
        let found = changes(old, new)
        #expect(found.contains { $0.isExact && !$0.needsLess })
        #expect(found.contains { !$0.isExact && $0.needsLess })
        #expect(found.drop(while: \.needsLess).allSatisfy { !$0.needsLess })
    }

    @Test func `that is not decided names all statements that may change more`() {
        let new = PolicySet(rules: [
            rule("f", .forbid(""), .read, literal(.exe, "x")),
            rule("r", passcode, .read, literal(.exe, "x")),
        ])
        let found = PolicyAnalysis(PolicySet(), day: today, mostCells: 10).difference(to: new)
        #expect(found.undecided == ["f", "r"])
    }

    @Test func `is of the same kinds whatever the budget that it was found in`() {
        var count = 0
        for round in 0..<12 {
            var world = PolicyGenerator(
                seed: 7_100 + UInt64(round), fields: [.exe, .service, .group])
            let old = world.policy(rules: 7)
            var new = old
            let others = world.policy(rules: 4)
            new.rules = Array(new.rules.dropFirst(2)) + others.rules.prefix(2)
            let kinds = [400, 1_000, 3_000, 10_000, 200_000].compactMap { budget in
                let found = PolicyAnalysis(old, day: today, mostCells: budget).difference(to: new)
                return found.isComplete ? Set(found.changes.map(\.kind)) : nil
            }
            #expect(Set(kinds).count == 1)
            count += kinds.count
        }
        #expect(count > 24)
    }

    @Test func `is what sampling finds`() {
        var differences = 0
        for round in 0..<60 {
            var world = PolicyGenerator(
                seed: 900 + UInt64(round), fields: [.exe, .service, .group])
            let old = world.policy(rules: 7)
            var new = old
            let others = world.policy(rules: 4)
            if round % 3 == 0 { new.closed = others.closed }
            if round % 3 == 1 { new.groups = others.groups }
            new.rules = Array(new.rules.dropFirst()) + others.rules.prefix(1)
            let found = PolicyAnalysis(old, day: today, mostCells: 5_000).difference(to: new)
            guard found.isComplete else { continue }
            let before = ReferenceEvaluator(old)
            let after = ReferenceEvaluator(new)
            for change in found.changes {
                #expect(before.decide(change.request) == change.before)
                #expect(after.decide(change.request) == change.after)
            }
            let kinds = Set(found.changes.map(\.kind))
            for _ in 0..<60 {
                let request = world.possibleRequest(for: new)
                let was = before.decide(request)
                let now = after.decide(request)
                switch (was.outcome == .deny, now.outcome == .deny) {
                case (true, false): #expect(kinds.contains(.newlyAllowed))
                case (false, true): #expect(kinds.contains(.newlyDenied))
                case (false, false) where was.requires != now.requires:
                    #expect(kinds.contains(.nowNeeds) || kinds.contains(.noLongerNeeds))
                default: continue
                }
                differences += 1
            }
        }
        #expect(differences > 100)
    }
}

extension GroupMembership {
    /// Whether the request, or the export that it is, is one of a member.
    fileprivate func takesIn(_ request: PolicyRequest) -> Bool {
        request.cases.contains { operation, facts in
            operations.contains(operation) && facts[.accessGroup] == .known([group])
                && members.contains { PolicyBox($0).truth(for: operation, facts) == .yes }
        }
    }
}
