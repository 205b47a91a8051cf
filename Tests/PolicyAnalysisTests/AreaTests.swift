// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import Testing

@Suite struct `A printed area` {
    private func changes(_ old: PolicySet, _ new: PolicySet) -> [PolicyChange] {
        PolicyAnalysis(old, day: today).difference(to: new).changes
    }

    private func areas(_ new: PolicySet, without old: PolicySet = PolicySet()) -> [String] {
        changes(old, new).flatMap { $0.areas.map(\.words) }
    }

    private let closed = [scope("c", .boolean(.member, true))]

    // MARK: What it means

    @Test func `holds only requests with its change, whatever the sets`() {
        var sampled = 0
        var areas = 0
        for round in 0..<12 {
            var world = PolicyGenerator(
                seed: 41_000 + UInt64(round), fields: [.exe, .service, .group])
            let old = world.policy(rules: 5)
            var new = old
            let others = world.policy(rules: 4)
            if round % 3 == 0 { new.closed = others.closed }
            if round % 3 == 1 { new.groups = others.groups }
            new.rules = Array(new.rules.dropFirst()) + others.rules.prefix(1)
            let found = PolicyAnalysis(old, day: today, mostCells: 10_000).difference(to: new)
            let evaluators = (ReferenceEvaluator(old), ReferenceEvaluator(new))
            for change in found.changes where change.isExact {
                for area in change.areas.prefix(10) {
                    areas += 1
                    for _ in 0..<6 {
                        guard let request = area.request(using: &world.random) else { continue }
                        sampled += 1
                        let was = evaluators.0.decide(request)
                        let now = evaluators.1.decide(request)
                        #expect((was.outcome == .deny) == (change.before.outcome == .deny))
                        #expect((now.outcome == .deny) == (change.after.outcome == .deny))
                        #expect(was.requires == change.before.requires)
                        #expect(now.requires == change.after.requires)
                        if change.kind == .toldDifferently {
                            #expect(was.redacted != now.redacted || was.audit != now.audit)
                        }
                    }
                }
            }
        }
        #expect(areas > 60)
        #expect(sampled > 300)
    }

    @Test func `of who may do something holds only requests with its decision`() {
        var sampled = 0
        for round in 0..<20 {
            var world = PolicyGenerator(
                seed: 52_000 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 6)
            var item = PolicyFacts()
            item[.service] = .known([world.random.pick(PolicyGenerator.texts)])
            let found = PolicyAnalysis(policy, day: today, mostCells: 20_000)
                .who(.readSecret, item: item)
            guard found.detail == .rules else { continue }
            let reference = ReferenceEvaluator(policy)
            for access in found.accesses {
                for area in access.areas.prefix(10) {
                    for _ in 0..<8 {
                        guard let request = area.request(using: &world.random) else { continue }
                        sampled += 1
                        let decision = reference.decide(request)
                        #expect(decision.requires == access.decision.requires)
                        #expect(decision.because == access.decision.because)
                        #expect(request.facts[.service] == item[.service])
                    }
                }
            }
        }
        #expect(sampled > 300)
    }

    @Test func `has no request of another one`() {
        var world = PolicyGenerator(seed: 63_000, fields: [.exe, .service, .group])
        var (shared, noticed) = (0, 0)
        for _ in 0..<60 {
            let old = world.policy(rules: 4)
            let new = world.policy(rules: 4)
            let found = PolicyAnalysis(old, day: today, mostCells: 10_000).difference(to: new)
            shared += shares(found.changes, &world.random)
            // Of areas that are there twice it is seen that they have the same requests.
            noticed += shares(found.changes + found.changes, &world.random)
        }
        #expect(shared == 0)
        #expect(noticed > 100)
    }

    @Test func `has no request of another one where groups or flags are unknown`() {
        let conditions = [
            literal(.group, "staff"),
            .flags(has: PolicyItemFlags(word: "user-presence") ?? [], lacks: []),
        ]
        for (condition, words) in zip(conditions, ["staff", "user-presence"]) {
            let some = rule("some", .permit(""), .all, condition)
            let all = rule("all", .permit(""))
            let found = changes(
                PolicySet(rules: [some], closed: closed),
                PolicySet(rules: [some, all], closed: closed))
            #expect(found.count == 1)
            let areas = found.flatMap(\.areas).map(\.words)
            // No request to unlock has flags.
            let isSaid = areas.allSatisfy {
                $0.contains(": not \(words), or unknown") || $0 == "operation: unlock"
            }
            #expect(isSaid && !areas.isEmpty, "\(areas)")
            var world = PolicyGenerator(seed: 64_000, fields: [.group])
            #expect(shares(found, &world.random) == 0)
            #expect(shares(found + found, &world.random) > 5)
        }
    }

    /// How often a request of one area was one of another, too.
    private func shares(
        _ changes: [PolicyChange], _ random: inout some RandomNumberGenerator
    ) -> Int {
        var owners: [PolicyRequest: Set<Int>] = [:]
        for (place, area) in changes.filter(\.isExact).flatMap(\.areas).enumerated() {
            for _ in 0..<30 {
                guard let request = area.request(using: &random) else { continue }
                owners[request, default: []].insert(place)
            }
        }
        return owners.values.count { $0.count > 1 }
    }

    // MARK: What it says

    @Test func `is one for each of two grants that have nothing in common`() {
        let nightly = WeekWindow(from: 120, to: 180).map { [$0] } ?? []
        let backup = rule(
            "backup", .permit(""), PolicyOperations(.readSecret), literal(.unit, "backup.service"),
            literal(.accessGroup, "payroll"), .time(nightly, outside: false))
        let wiki = rule(
            "wiki", .permit(""), PolicyOperations(.delete), literal(.unit, "wiki.service"),
            literal(.accessGroup, "wiki"))
        let old = PolicySet(closed: closed)
        let found = changes(old, PolicySet(rules: [backup, wiki], closed: closed))
        #expect(found.map(\.kind) == [.newlyAllowed, .newlyAllowed])
        #expect(found.map { $0.statements.map(\.id) } == [["backup"], ["wiki"]])
        let words = found.flatMap { $0.areas.map(\.words) }
        #expect(words[0].contains("subject.unit: backup.service"))
        #expect(words[0].contains("resource.access-group: payroll"))
        #expect(words[0].contains("when.time: 02:00-03:00"))
        #expect(!words[0].contains("wiki"))
        #expect(words[1].contains("operation: delete; "))
        #expect(!words[1].contains("when.time"))
    }

    @Test func `says the days on which a grant holds, from today on`() {
        func permit(_ days: ClosedRange<Int32>) -> PolicySet {
            PolicySet(
                rules: [rule("p", .permit(""), .read, literal(.user, "eve"), .date(days))],
                closed: closed)
        }
        let none = PolicySet(closed: closed)
        func days(_ found: [String]) -> Set<Substring> {
            Set(
                found.map { words in
                    words.split(separator: "; ").first { $0.hasPrefix("when.date") } ?? "always"
                })
        }
        #expect(
            days(areas(permit(today + 5...today + 6), without: none))
                == ["when.date: 1970-01-16 to 1970-01-17"])
        #expect(
            days(areas(permit(today - 5...today), without: none)) == ["when.date: up to 1970-01-11"]
        )
        #expect(
            days(areas(permit(today + 5...(.max)), without: none)) == ["when.date: from 1970-01-16"]
        )
        // What is over, and what has begun.
        #expect(areas(permit(today - 5...today - 1), without: none) == [])
        #expect(days(areas(permit(today - 5...(.max)), without: none)) == ["always"])
        // A longer one.
        #expect(
            days(areas(permit(today...today + 9), without: permit(today...today + 4)))
                == ["when.date: 1970-01-16 to 1970-01-20"])
    }

    @Test func `says from which day a rule on trial decides, where rules have dates`() {
        var trial = rule("f", .forbid(""), .all, literal(.user, "eve"))
        trial.mode = .permissive(untilDay: today + 20)
        let dated = rule("g", .forbid(""), .all, literal(.user, "bob"), .date(today + 1...(.max)))
        let found = changes(PolicySet(), PolicySet(rules: [trial, dated]))
        let words = found.flatMap { $0.areas.map(\.words) }
        #expect(words.contains { $0.contains("eve") && $0.contains("when.date: from 1970-01-31") })
        #expect(words.contains { $0.contains("bob") && $0.contains("when.date: from 1970-01-12") })
        for change in found {
            for area in change.areas {
                let decision = ReferenceEvaluator(PolicySet(rules: [trial, dated]))
                    .decide(area.example)
                #expect(decision.outcome == .deny, "\(area.words)")
            }
        }
    }

    @Test func `says an exception`() {
        let remote = PolicyBox([
            literal(.user, "bob"), .choice(.session, mask: 1 << 1),
        ])
        let policy = PolicySet(
            rules: [rule("p", .permit(""), .read, literal(.user, "ann", "bob"), unless: [remote])],
            closed: closed)
        let words = areas(policy, without: PolicySet(closed: closed))
        #expect(
            words.contains { $0.contains("bob") && $0.contains("session: any but ssh, unknown") })
        #expect(words.contains { $0.contains("ann") && !$0.contains("session") })
        #expect(!words.contains { $0.contains("bob") && $0.contains("session: ssh") })
    }

    @Test func `says values as policies write them`() {
        let work = WeekWindow(days: 0b001_1111, from: 480, to: 1_080).map { [$0] } ?? []
        let policy = PolicySet(rules: [
            rule(
                "f", .forbid(""), .all, .uid([0...0]),
                .text(.unit, [.pieces(["payment-", ".service"], open: false)]),
                .text(.accessGroup, [.prefix("svc.postgres.")]),
                .age(.session, .minutes(10)...(.hours(1))), .time(work, outside: false))
        ])
        let words = areas(PolicySet(), without: policy) + areas(policy)
        for word in [
            "subject.uid: 0", "subject.unit: payment-*.service", "svc.postgres.*",
            "session-age: 10m to 1h", "when.time: unknown, mon-fri 08:00-18:00",
        ] {
            #expect(
                words.contains { $0.contains(word) },
                "\(word): \(words.first { !$0.contains(word) } ?? "")")
        }
    }

    @Test func `quotes a value that could be taken for its own words`() {
        func words(_ condition: PolicyCondition) -> [String] {
            areas(PolicySet(), without: PolicySet(rules: [rule("f", .forbid(""), .all, condition)]))
        }
        for (text, shown) in [
            ("none; subject.user: root", "\"none; subject.user: root\""),
            ("a\nb", "\"a\\u000ab\""), ("unknown", "\"unknown\""), ("none", "\"none\""),
            ("any", "\"any\""), ("but", "\"but\""), ("", "\"\""), ("a,b", "\"a,b\""),
            ("e\u{301}", "\"e\u{301}\""), ("Plain-1.x_y/z@a:b", "Plain-1.x_y/z@a:b"),
        ] {
            let exe = words(literal(.exe, PolicyText(text)))
            #expect(exe == ["subject.exe: \(shown), unknown; subject.member: true"])
            let group = words(literal(.group, PolicyText(text)))
            let ends = ["\(shown)", "unknown"].map { "; subject.group: \($0)" }
            let isSaid = group.allSatisfy { area in ends.contains { area.hasSuffix($0) } }
            #expect(isSaid, "\(group)")
            #expect(group.contains { $0.hasSuffix(ends[0]) })
        }
        for (pattern, shown) in [
            (TextPattern.prefix("a b"), "\"a b*\""), (.prefix("ab"), "ab*"),
            (.literal("ab*"), "\"ab*\""),
        ] {
            #expect(
                words(.text(.exe, [pattern]))
                    == ["subject.exe: \(shown), unknown; subject.member: true"])
        }
    }

    @Test func `shows of very many values some, and how many more`() {
        let names = (100..<160).map { PolicyText("u\($0)") }
        let policy = PolicySet(rules: [
            rule("f", .forbid(""), .all, .text(.exe, names.map { .literal($0) })),
            rule("g", .forbid(""), .all, .text(.exe, names.dropLast().map { .literal($0) })),
        ])
        let found = changes(PolicySet(), policy).flatMap(\.areas)
        let words = found.map(\.words)
        #expect(words.contains { $0.contains("subject.exe: u100, u101") }, "\(words)")
        #expect(words.contains { $0.contains("u139, 19 more, unknown") }, "\(words)")
        let exe = found.flatMap(\.fields).filter { $0.name == "subject.exe" }.map(\.values)
        #expect(exe.contains { $0.hasSuffix("u157, u158, unknown") }, "\(exe)")
    }

    @Test func `says of very many groups, too, that they may be unknown`() {
        let names = (100..<150).map { PolicyText("g\($0)") }
        let policy = PolicySet(rules: [
            rule(
                "f", .forbid(""), .all, literal(.exe, "x"),
                unless: [PolicyBox([.text(.group, names.map { .literal($0) })])])
        ])
        let groups = changes(PolicySet(), policy).flatMap(\.areas).flatMap(\.fields)
            .filter { $0.name == "subject.group" }
        #expect(groups.map(\.shown).contains { $0.hasSuffix("not g139 and 10 more, or unknown") })
        #expect(groups.map(\.values).contains { $0.hasSuffix("not g149, or unknown") })
    }

    @Test func `has no session that is remote and none that is not, against its kind`() {
        func words(_ session: String, _ isRemote: Bool) -> [String] {
            let kind = ChoiceField.session.index(of: session) ?? 0
            return areas(
                PolicySet(),
                without: PolicySet(rules: [
                    rule(
                        "f", .forbid(""), .all, .choice(.session, mask: 1 << kind),
                        .boolean(.remote, isRemote))
                ])
            ).filter { $0.contains("session: \(session)") }
        }
        for (session, isRemote) in [
            ("ssh", false), ("remote-desktop", false), ("seat", true), ("service", true),
        ] {
            #expect(words(session, isRemote).isEmpty, "\(session)")
            #expect(!words(session, !isRemote).isEmpty, "\(session)")
        }
        #expect(!words("cron", true).isEmpty && !words("cron", false).isEmpty)
    }

    @Test func `is one of as few as the budget reaches`() throws {
        var budget = Budget(10_000)
        let boxes = ["a", "b"].map { PolicyBox([literal(.exe, $0)]) }
        let universe = try Universe(boxes, from: today, &budget)
        let cells = try universe.union(of: boxes, .yes, &budget)
        let merging = CellMerging(universe)
        #expect(cells.count == 2)
        #expect(merging.merged(cells, &budget).count == 1)
        var nothing = Budget(0)
        #expect(merging.merged(cells, &nothing).count == 2)
    }

    @Test func `says what it leaves out where that is shorter`() {
        let policy = PolicySet(rules: [
            rule(
                "f", .forbid(""), .all, .uid([0...0]), unless: [PolicyBox([literal(.unit, "a.b")])])
        ])
        #expect(areas(policy).contains { $0.contains("subject.unit: any but a.b") })
    }

    @Test func `says how patterns cut each other`() {
        let policy = PolicySet(
            rules: [
                rule("p", .permit(""), .all, .text(.service, [.prefix("svc.")])),
                rule(
                    "f", .forbid(""), .all, .text(.service, [.prefix("svc.x."), .literal("svc.y")])),
            ], closed: closed)
        let words = areas(policy, without: PolicySet(closed: closed))
        #expect(words.contains { $0.contains("resource.service: svc.* but not (svc.x.*, svc.y)") })
    }
}
