// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import Testing

@Suite struct `Who can` {
    private let policy = PolicySet(
        rules: [
            rule(
                "git", .permit(""), .read, literal(.exe, "/usr/bin/git"),
                .boolean(.trustedExe, true)),
            rule("ops", .permit(""), .all, literal(.group, "ops")),
            rule("r", passcode, .read, literal(.group, "ops")),
            rule("f", .forbid(""), .all, .boolean(.screenLocked, true)),
        ], closed: [scope("c", literal(.service, "forge"))])

    private func item(_ service: PolicyText) -> PolicyFacts {
        var facts = PolicyFacts()
        facts[.service] = .known([service])
        facts[.itemClass] = .known(0)
        return facts
    }

    @Test func `read an item, and after which proof`() {
        let found = PolicyAnalysis(policy, day: today).who(.readSecret, item: item("forge"))
        #expect(found.isComplete)
        #expect(found.accesses.allSatisfy { $0.decision.outcome != .deny })
        let because = Set(found.accesses.map(\.decision.because))
        // The third: whose groups can't be told needs the proof, and is no operator.
        #expect(because == [["git"], ["ops", "r"], ["git", "r"], ["git", "ops", "r"]])
        for access in found.accesses {
            #expect(access.request.facts[.service] == .known(["forge"]))
            for area in access.areas {
                #expect(area.words.contains("when.screen-locked: false"))
            }
        }
    }

    @Test func `write to it`() {
        let found = PolicyAnalysis(policy, day: today).who(.delete, item: item("forge"))
        #expect(Set(found.accesses.map(\.decision.because)) == [["ops"]])
    }

    @Test func `be told for a subject`() {
        var subject = PolicyFacts()
        subject[.exe] = .known(["/usr/bin/git"])
        subject[.trustedExe] = .known(true)
        subject[.group] = .known(["users"])
        let found = PolicyAnalysis(policy, day: today).can(subject)
        #expect(found.isComplete)
        let forge = found.accesses.filter { $0.request.facts[.service] == .known(["forge"]) }
        #expect(Set(forge.map(\.decision.because)) == [["git"]])
        #expect(found.accesses.allSatisfy { $0.request.facts[.exe] == .known(["/usr/bin/git"]) })
    }

    @Test func `be seen in random sets`() {
        for round in 0..<40 {
            var world = PolicyGenerator(
                seed: 2_500 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 7)
            // Some of what is known of an item; the rest may be anything.
            let whole = world.request(for: policy).plain.facts
            var item = PolicyFacts()
            for field in [TextField.service, .accessGroup] where world.random.chance(60) {
                item[field] = whole[field]
            }
            item[.itemClass] = .known(2)
            let found = PolicyAnalysis(policy, day: today, mostCells: 20_000)
                .who(.readSecret, item: item)
            guard found.isComplete else { continue }
            let reference = ReferenceEvaluator(policy)
            for access in found.accesses {
                #expect(reference.decide(access.request) == access.decision)
            }
            let seen = Set(found.accesses.map(\.decision.requires))
            for _ in 0..<40 {
                var request = world.request(for: policy).plain
                request.operation = .readSecret
                for field in [TextField.service, .accessGroup] where item[field] != .absent {
                    request.facts[field] = item[field]
                }
                request.facts[.itemClass] = .known(2)
                guard request.isPossible else { continue }
                let decision = reference.decide(request)
                guard decision.outcome != .deny else { continue }
                #expect(seen.contains(decision.requires))
            }
        }
    }
}

@Suite struct `A question about access` {
    private let policy = PolicySet(
        rules: [
            rule(
                "backup", .permit(""), .read, literal(.unit, "backup.service"),
                literal(.accessGroup, "backup"))
        ], closed: [scope("c")])

    @Test func `takes what it leaves out for anything`() {
        var item = PolicyFacts()
        item[.service] = .known(["backup-passphrase"])
        item[.itemClass] = .known(0)
        let found = PolicyAnalysis(policy, day: today, mostCells: 20_000)
            .who(.readSecret, item: item)
        #expect(found.accesses.map(\.decision.because) == [["backup"]])
        #expect(found.accesses[0].areas[0].words.contains("resource.access-group: backup"))
        var subject = PolicyFacts()
        subject[.user] = .known(["ward"])
        let can = PolicyAnalysis(policy, day: today).can(subject)
        #expect(can.accesses.map(\.decision.because) == [["backup"]])
        #expect(can.accesses[0].areas[0].words.contains("subject.unit: backup.service"))
    }

    @Test func `takes the groups that it names for all that there are`() {
        let policy = PolicySet(
            rules: [
                rule("ops", .permit(""), .all, literal(.group, "ops")),
                rule("no", .forbid(""), .all, literal(.group, "guests")),
            ], closed: [scope("c")])
        func may(_ groups: PolicyText...) -> Bool {
            var subject = PolicyFacts()
            subject[.group] = .known(groups)
            return !PolicyAnalysis(policy, day: today).can(subject).accesses.isEmpty
        }
        #expect(may("ops"))
        #expect(may("ops", "staff"))
        #expect(!may("staff"))
        #expect(!may("ops", "guests"))
    }

    @Test func `tells programs that can be taken over apart from others`() {
        let policy = PolicySet(
            rules: [
                rule(
                    "git", .permit(""), .all, literal(.exe, "/usr/bin/git"),
                    .boolean(.trustedExe, true)),
                rule("ci", .permit(""), .all, literal(.unit, "ci.service")),
            ], closed: [scope("c")])
        let found = PolicyAnalysis(policy, day: today).who(.readSecret, item: PolicyFacts())
        let weak = found.accesses.filter(\.isWeak)
        #expect(weak.contains { $0.decision.because == ["git"] })
        #expect(found.accesses.contains { !$0.isWeak && $0.decision.because == ["ci"] })
    }

    @Test func `is of one need, whether or not the program can be asked`() {
        let policy = PolicySet(rules: [
            rule("need", passcode),
            rule("f", .forbid(""), .all, literal(.exe, "x"), .boolean(.interactive, false)),
        ])
        let found = PolicyAnalysis(policy, day: today).who(.readSecret, item: PolicyFacts())
        #expect(found.accesses.map(\.decision.because) == [["need"]])
    }

    @Test func `takes for weak whatever rests on names that can be taken over`() {
        let git = rule(
            "git", .permit(""), .all, literal(.exe, "/usr/bin/git"), .boolean(.trustedExe, true))
        let ann = rule(
            "ann", .permit(""), .all, literal(.exe, "/usr/bin/git"), literal(.user, "ann"),
            literal(.group, "dev"), .choice(.session, mask: 1 << 1), .uid([7...7]))
        let unit = rule(
            "unit", .permit(""), .all, literal(.exe, "/usr/bin/ci"), literal(.unit, "ci.service"))
        let policy = PolicySet(rules: [git, ann, unit], closed: [scope("c")])
        let analysis = PolicyAnalysis(policy, day: today)
        func weak(_ found: PolicyAccessList, _ rule: PolicyText) -> Set<Bool> {
            Set(found.accesses.filter { $0.decision.because == [rule] }.map(\.isWeak))
        }
        let who = analysis.who(.readSecret, item: PolicyFacts())
        #expect(weak(who, "git").contains(true))
        #expect(weak(who, "ann").contains(true))
        #expect(weak(who, "unit") == [false])
        // What the question says stands in every area, and tells nothing of what lets it through.
        var subject = PolicyFacts()
        subject[.user] = .known(["ann"])
        subject[.unit] = .known(["other.service"])
        #expect(weak(analysis.can(subject), "git").contains(true))
    }

    @Test func `tells weak ways in from what only asks more, or is named besides`() {
        let git = rule(
            "git", .permit(""), .all, literal(.exe, "/usr/bin/git"), .boolean(.trustedExe, true))
        let asked = rule("asked", passcode, .all, literal(.unit, "ci.service"))
        let ssh = rule("ssh", passcode, .all, literal(.exe, "/usr/bin/ssh"))
        let unit = rule(
            "unit", .permit(""), .all, literal(.unit, "ci.service"), literal(.exe, "/usr/bin/ci"))
        func weak(_ policy: PolicySet, _ subject: [TextField: PolicyText] = [:]) -> [[String]: Set<
            Bool
        >] {
            var facts = PolicyFacts()
            for (field, text) in subject { facts[field] = .known([text]) }
            return PolicyAnalysis(policy, day: today).can(facts).accesses.reduce(into: [:]) {
                $0[$1.decision.because.map(\.string), default: []].insert($1.isWeak)
            }
        }
        let closed = [scope("c")]
        // That the unit is asked for a proof is no way in.
        #expect(weak(PolicySet(rules: [git, asked], closed: closed))[["asked", "git"]] == [true])
        // That a program is asked for one makes it no name to take.
        let asking = weak(PolicySet(rules: [ssh]))
        #expect(asking == [["ssh"]: [false], []: [false]])
        // What the question says counts where a rule rests on it.
        #expect(
            weak(PolicySet(rules: [unit], closed: closed), [.unit: "ci.service"])
                == [["unit"]: [false]])
        #expect(
            weak(PolicySet(rules: [git], closed: closed), [.exe: "/usr/bin/git"])
                == [["git"]: [true]])
        // An exception from a refusal, or from a question, is a way in.
        let only = rule(
            "only", .forbid(""), unless: [PolicyBox([literal(.exe, "/usr/bin/git")])])
        #expect(weak(PolicySet(rules: [only])) == [[]: [true]])
        let unasked = rule(
            "unasked", passcode, unless: [PolicyBox([literal(.exe, "/usr/bin/git")])])
        #expect(weak(PolicySet(rules: [unasked])) == [["unasked"]: [false], []: [true]])
        // What runs as root is past this.
        let root = rule("root", .permit(""), .all, .uid([0...0]), literal(.exe, "/usr/bin/git"))
        #expect(weak(PolicySet(rules: [root], closed: closed)) == [["root"]: [false]])
    }

    @Test func `takes members for weak by what the group names them by`() {
        func weak(_ condition: PolicyCondition) -> Set<Bool> {
            let group = GroupMembership(
                id: "g", origin: PolicyOrigin(file: "", line: 1, column: 1, level: 0),
                group: "mail",
                members: [[condition]], operations: .all)
            var item = PolicyFacts()
            item[.accessGroup] = .known(["mail"])
            let found = PolicyAnalysis(PolicySet(groups: [group]), day: today)
                .who(.delete, item: item)
            return Set(found.accesses.map(\.isWeak))
        }
        // What belongs to the item's own program is another way in.
        #expect(weak(literal(.exe, "/usr/bin/mutt")) == [true, false])
        #expect(weak(literal(.unit, "mail.service")) == [false])
    }

    @Test func `says of all that it did not come to where it is`() {
        let names = ["a.service", "b.service", "c.service", "d.service"]
        let policy = PolicySet(
            rules: names.map { name in
                rule(PolicyText(name), .permit(""), .all, literal(.unit, PolicyText(name)))
            }, closed: [scope("c")])
        var cut = 0
        for budget in stride(from: 20, to: 1_500, by: 5) {
            let found = PolicyAnalysis(policy, day: today, mostCells: budget)
                .who(.readSecret, item: PolicyFacts())
            guard let left = found.undecided else { continue }
            guard let units = left.first(where: { $0.name == "subject.unit" }) else { continue }
            cut += 1
            let shown = Set(found.accesses.flatMap(\.decision.because))
            for name in names where !shown.contains(PolicyText(name)) {
                let isNamed = units.values.contains(name)
                #expect(isNamed != units.values.hasPrefix("any but"), "\(name) in \(units)")
            }
        }
        #expect(cut > 0)
    }

    @Test func `that is too much is answered in less detail, or said not to be`() {
        let policy = PolicySet(
            rules: (0..<12).map { number in
                rule(
                    PolicyText("r\(number)"),
                    .require(PolicyDemand(.pam(PolicyText("keychain-\(number)"), within: nil))),
                    .all, literal(.group, PolicyText("g\(number)")))
            })
        let found = PolicyAnalysis(policy, day: today, mostCells: 8_000)
            .who(.readSecret, item: PolicyFacts())
        #expect(found.isComplete)
        #expect(found.detail == .outcome)
        let poor = PolicyAnalysis(policy, day: today, mostCells: 10)
            .who(.readSecret, item: PolicyFacts())
        #expect(!poor.isComplete)
    }
}
