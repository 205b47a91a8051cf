// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyGenerators
import KeychainPolicyModel
import Testing

/// What both evaluators say; the test fails where they differ.
private func decide(_ policy: PolicySet, _ request: PolicyRequest) throws -> PolicyDecision {
    let decision = ReferenceEvaluator(policy).decide(request)
    let difference = try Comparison.mismatch(CompiledPolicy(policy), decision, request)
    #expect(difference == nil)
    return decision
}

private func decide(rules: PolicyRule..., request: PolicyRequest) throws -> PolicyDecision {
    try decide(PolicySet(rules: rules), request)
}

@Suite struct `A policy decision` {
    private let passcode = PolicyConstraint.factor(.passcode)

    @Test func `allows what nothing speaks against`() throws {
        #expect(try decide(PolicySet(), request(.export)) == PolicyDecision(outcome: .allow))
    }

    @Test func `names every forbid, sorted, and nothing else`() throws {
        let found = try decide(
            rules: rule("z", .forbid("")), rule("a", .forbid("")), rule("m", need(.passcode)),
            request: request(.sign))
        #expect(found == PolicyDecision(outcome: .deny, because: ["a", "z"]))
    }

    @Test func `takes an unknown group for any when it restricts and for none when it grants`()
        throws
    {
        let sign = request(.sign) { $0[.group] = .unknown }
        let breakGlass = PolicyBox([literal(.group, "break-glass")])
        let strict = rule("r", need(.passcode), PolicyOperations(.sign), unless: [breakGlass])
        #expect(try decide(rules: strict, request: sign).because == ["r"])
        let permit = rule("p", .permit(""), .all, literal(.group, "ops"))
        let closed = PolicySet(rules: [permit], closed: [scope("c")])
        #expect(try decide(closed, sign).because == ["c"])
        let forbid = rule("f", .forbid(""), .all, literal(.group, "ops"))
        #expect(try decide(rules: forbid, request: sign).because == ["f"])
        #expect(try decide(rules: forbid, request: request(.sign)).outcome == .allow)
    }

    @Test func `takes reading a key for an export too`() throws {
        let forbid = rule("f", .forbid(""), PolicyOperations(.export))
        func read(_ itemClass: Fact<UInt8>) throws -> PolicyOutcome {
            try decide(rules: forbid, request: request(.readSecret) { $0[.itemClass] = itemClass })
                .outcome
        }
        #expect(try read(.known(ChoiceField.keyClass)) == .deny)
        #expect(try read(.unknown) == .deny)
        #expect(try read(.absent) == .allow)
        #expect(try read(.known(0)) == .allow)
    }

    @Test func `needs a permit for the read and for the export of a key`() throws {
        let permit = rule("p", .permit(""), PolicyOperations(.readSecret))
        let policy = PolicySet(rules: [permit], closed: [scope("c")])
        let read = request(.readSecret) { $0[.itemClass] = .known(ChoiceField.keyClass) }
        #expect(try decide(policy, read).because == ["c"])
        #expect(try decide(policy, request(.readSecret)).because == ["p"])
    }

    @Test func `looks at an item before and after an update`() throws {
        let forbid = rule("f", .forbid(""), .write, literal(.service, "old"))
        var update = request(.update) { $0[.service] = .known(["new"]) }
        #expect(try decide(rules: forbid, request: update).outcome == .allow)
        update.before = facts { $0[.service] = .known(["old"]) }
        #expect(try decide(rules: forbid, request: update).outcome == .deny)
        update.before = facts { $0.constraint = .never }
        #expect(try decide(rules: forbid, request: update).outcome == .deny)
    }

    @Test func `lets a stranger in through a share, and never as a possible member`() throws {
        let share = rule("s", .share(""), .read, literal(.exe, "/usr/bin/git"))
        func read(_ member: Fact<Bool>, _ exe: PolicyText) throws -> PolicyDecision {
            try decide(
                rules: share,
                request: request(.readSecret) {
                    $0[.member] = member
                    $0[.exe] = .known([exe])
                })
        }
        #expect(try read(.known(false), "/usr/bin/git").because == ["s"])
        #expect(
            try read(.known(false), "/usr/bin/gif") == PolicyDecision(outcome: .deny, because: []))
        #expect(try read(.unknown, "/usr/bin/gif").outcome == .deny)
        #expect(try read(.absent, "/usr/bin/git") == PolicyDecision(outcome: .allow, because: []))
    }

    @Test func `makes members of a group for what its mode says`() throws {
        let policy = PolicySet(groups: [membership("team", .read, literal(.unit, "ci.service"))])
        func ask(_ operation: PolicyOperation, _ unit: Fact<[PolicyText]>) throws -> PolicyOutcome {
            try decide(
                policy,
                request(operation) {
                    $0[.member] = .known(false)
                    $0[.accessGroup] = .known(["team"])
                    $0[.unit] = unit
                }
            ).outcome
        }
        #expect(try ask(.readSecret, .known(["ci.service"])) == .allow)
        #expect(try ask(.add, .known(["ci.service"])) == .deny)
        #expect(try ask(.readSecret, .unknown) == .deny)
    }

    @Test func `tests forbid, reach, scopes and the item in that order`() throws {
        var policy = PolicySet(rules: [rule("f", .forbid(""))], closed: [scope("c")])
        let stranger = request(.sign) {
            $0[.member] = .known(false)
            $0.constraint = .never
        }
        #expect(try decide(policy, stranger).because == ["f"])
        policy.rules = []
        #expect(try decide(policy, stranger).because == [])
        policy.rules = [rule("s", .share(""))]
        #expect(try decide(policy, stranger).because == ["c"])
        policy.closed = []
        #expect(try decide(policy, stranger) == PolicyDecision(outcome: .deny))
    }

    @Test func `asks for what the evidence leaves, each requirement whole`() throws {
        let two = PolicyConstraint.all([.factor(.passcode), .pam("keychain-otp", within: nil)])
        let first = rule("a", .require(PolicyDemand(two)))
        let second = rule("b", need(.confirm))
        let proof = PolicyProof(.factor(.passcode), age: .zero, scope: .context)
        let confirm = PolicyProof(.factor(.confirm), age: .zero, scope: .operation)
        let some = try decide(
            rules: first, second, request: request(.sign, evidence: [proof, confirm]))
        #expect(some.requires == two)
        #expect(some.because == ["a", "b"])
        let none = try decide(rules: first, second, request: request(.sign))
        #expect(
            none.requires?.json == #"{"all":["confirm","passcode",{"pam":"keychain-otp"}]}"#)
    }

    @Test func `challenges only where a user could answer`() throws {
        func ask(_ interactive: Fact<Bool>) throws -> PolicyDecision {
            try decide(
                rules: rule("r", need(.passcode)),
                request: request(.sign) { $0[.interactive] = interactive })
        }
        #expect(try ask(.absent).outcome == .challenge)
        #expect(try ask(.known(true)).outcome == .challenge)
        #expect(try ask(.known(false)).outcome == .interactionNotAllowed)
        #expect(try ask(.unknown).outcome == .interactionNotAllowed)
        #expect(try ask(.known(false)).requires == passcode)
    }

    @Test(arguments: [
        (
            PolicyFactor.presence,
            [PolicyFactor.presence, .passcode, .biometry, .biometryCurrentSet, .companion]
        ),
        (.biometry, [.biometry, .biometryCurrentSet]), (.passcode, [.passcode]),
        (.confirm, [.confirm]), (.appPassword, [.appPassword]),
        (.biometryCurrentSet, [.biometryCurrentSet]), (.companion, [.companion]),
    ]) func `knows which proof stands for which`(_ row: (asked: PolicyFactor, by: [PolicyFactor]))
        throws
    {
        for factor in PolicyFactor.allCases {
            let proof = PolicyProof(.factor(factor), age: .zero, scope: .context)
            let found = try decide(
                rules: rule("r", need(row.asked)), request: request(.sign, evidence: [proof]))
            #expect((found.outcome == .allow) == row.by.contains(factor), "\(factor)")
        }
    }

    @Test func `counts a proof by its age, ends included, and its scope`() throws {
        let effect = need(.passcode, within: .minutes(5), scope: .process)
        func ask(_ age: PolicyDuration, _ scope: Freshness) throws -> PolicyOutcome {
            let proof = PolicyProof(.factor(.passcode), age: age, scope: scope)
            return try decide(
                rules: rule("r", effect), request: request(.sign, evidence: [proof])
            ).outcome
        }
        #expect(try ask(.minutes(5), .process) == .allow)
        #expect(try ask(.minutes(5), .operation) == .allow)
        #expect(try ask(PolicyDuration(milliseconds: 300_001), .process) == .challenge)
        #expect(try ask(.minutes(1), .tty) == .challenge)
    }

    @Test(arguments: [
        (PolicyOperation.sign, Freshness.process, PolicyDuration.minutes(15), true),
        (.sign, .process, .minutes(16), false), (.sign, .tty, .minutes(16), false),
        (.sign, .session, .hours(12), true), (.sign, .session, .hours(13), false),
        (.sign, .context, .hours(100), true), (.export, .context, .minutes(1), false),
        (.changeACL, .session, .minutes(1), false), (.export, .session, .zero, true),
    ]) func `bounds reuse whatever a policy says`(
        _ row: (operation: PolicyOperation, scope: Freshness, age: PolicyDuration, enough: Bool)
    ) throws {
        let within = PolicyDuration.hours(1_000)
        let proofs: [PolicyMethod] = [.factor(.passcode), .pam("keychain-otp")]
        for (method, constraint) in zip(
            proofs, [PolicyConstraint.factor(.passcode), .pam("keychain-otp", within: within)])
        {
            let demand = PolicyDemand(constraint, within: within, scope: row.scope)
            let proof = PolicyProof(method, age: row.age, scope: row.scope)
            let found = try decide(
                rules: rule("r", .require(demand)),
                request: request(row.operation, evidence: [proof]))
            #expect((found.outcome == .allow) == row.enough)
        }
    }

    @Test func `does not relax an item's own requirement`() throws {
        let proof = PolicyProof(.factor(.biometry), age: .minutes(1), scope: .context)
        let relaxed = rule("r", need(.biometry, within: .minutes(5)))
        let found = try decide(
            rules: relaxed,
            request: request(.sign, evidence: [proof]) {
                $0.constraint = .needs(.factor(.biometry))
            })
        #expect(found.outcome == .challenge)
    }

    @Test func `reports what complaining rules would do, until they expire`() throws {
        let complaining = PolicyMode.permissive(untilDay: today + 1)
        let forbid = rule("f", .forbid(""), mode: complaining)
        let trial = try decide(rules: forbid, request: request(.export))
        #expect(trial == PolicyDecision(outcome: .allow, wouldDecide: .deny))
        let expired = rule("f", .forbid(""), mode: .permissive(untilDay: today))
        #expect(try decide(rules: expired, request: request(.export)).because == ["f"])
        let quiet = request(.export) { $0[.interactive] = .known(false) }
        let asking = rule("r", need(.passcode), mode: complaining)
        #expect(try decide(rules: asking, request: quiet).wouldDecide == .challenge)
        let closed = PolicySet(
            rules: [rule("p", .permit(""), mode: complaining)], closed: [scope("c")])
        #expect(try decide(closed, request(.sign)).wouldDecide == .allow)
    }

    @Test func `unites what is left out and takes the fullest audit, on refusals too`() throws {
        let found = try decide(
            rules: rule("a", .redact(["label", "account"])), rule("b", .redact(["comment"])),
            rule("c", .audit(.full)), rule("d", .forbid("")),
            rule("e", .redact(["service"]), .all, literal(.user, "other")),
            request: request(.readAttributes))
        #expect(found.redacted == ["account", "comment", "label"])
        #expect(found.audit == .full)
        #expect(found.because == ["d"])
    }

    @Test func `takes an absent age or time for one that could not be established`() throws {
        let old = PolicyCondition.age(.presence, .minutes(5)...PolicyDuration(milliseconds: .max))
        let night = try PolicyCondition.time(
            [#require(WeekWindow(from: 0, to: 360))], outside: false)
        for condition in [old, night] {
            let forbid = rule("f", .forbid(""), .all, condition)
            #expect(try decide(rules: forbid, request: request(.sign)).outcome == .deny)
        }
    }

    @Test(
        arguments: [(19, .allow), (20, .deny), (22, .deny), (23, .allow)]
            as [(Int32, PolicyOutcome)])
    func `takes a rule from its first day to its last`(
        _ day: Int32, _ outcome: PolicyOutcome
    ) throws {
        let forbid = rule("f", .forbid(""), .all, .date(20...22))
        let sign = PolicyRequest(.sign, facts: PolicyFacts(), day: day)
        #expect(try decide(rules: forbid, request: sign).outcome == outcome)
        // What the facts tell goes before the day of the request.
        var facts = PolicyFacts()
        facts.date = .known(day)
        let told = PolicyRequest(.sign, facts: facts, day: 21)
        #expect(try decide(rules: forbid, request: told).outcome == outcome)
        #expect(told.day == day)
    }

    @Test func `takes a dated rule on an unknown date where it restricts, and not where it opens`()
        throws
    {
        var facts = PolicyFacts()
        facts.date = .unknown
        let sign = PolicyRequest(.sign, facts: facts, day: 21)
        let forbid = rule("f", .forbid(""), .all, .date(20...22))
        #expect(try decide(rules: forbid, request: sign).outcome == .deny)
        let closed = PolicySet(
            rules: [rule("p", .permit(""), .all, .date(20...22))],
            closed: [scope("c", .date(.min...(.max)))])
        #expect(try decide(closed, sign).because == ["c"])
    }

    @Test func `asks for the date only where a rule has one`() throws {
        let plain = try CompiledPolicy(PolicySet(rules: [rule("f", .forbid(""))]))
        #expect(!plain.asked.containsDate)
        let dated = try CompiledPolicy(
            PolicySet(rules: [rule("f", .forbid(""), .all, .date(20...22))]))
        #expect(dated.asked.containsDate)
    }

    @Test func `finds the limits that count a request`() throws {
        let limit = PolicyLimit(3, per: .minutes(1), by: ["user", "exe"], then: .require(passcode))
        let policy = PolicySet(rules: [
            rule("l", .limit(limit), .all, .boolean(.prompted, true)),
            rule("m", .limit(PolicyLimit(1, per: .hours(1), by: [], then: .deny)), .write),
        ])
        let compiled = try CompiledPolicy(policy)
        func found(_ request: PolicyRequest) -> [PolicyLimit] {
            compiled.limits(on: compiled.admit(request)).map(\.limit)
        }
        #expect(found(request(.sign)).isEmpty)
        #expect(found(request(.sign) { $0[.prompted] = .known(true) }) == [limit])
        #expect(found(request(.add) { $0[.prompted] = .unknown }).count == 2)
        #expect(try decide(policy, request(.add)).outcome == .allow)
    }
}
