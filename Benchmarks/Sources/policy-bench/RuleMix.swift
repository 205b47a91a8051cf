// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel

/// Rules and requests of one kind in any number.
struct RuleMix {
    enum Kind: String, CaseIterable {
        /// As sites write them: nearly every rule names a service, a program or a group of items.
        case realistic
        /// Conditions of any kind, many on a group, a uid or an account alone.
        case hostile
    }

    let kind: Kind
    let policy: PolicySet
    let requests: [PolicyRequest]

    init(_ kind: Kind, rules: Int, requests count: Int) {
        var maker = Maker(kind: kind, size: rules, random: SplitMix(seed: 42))
        let policy = maker.policy()
        self.kind = kind
        self.policy = policy
        requests = (0..<count).map { _ in maker.request(policy) }
    }
}

private struct Maker {
    let kind: RuleMix.Kind
    let size: Int
    var random: SplitMix

    mutating func policy() -> PolicySet {
        let scopes = (0..<size / 100).map { number in
            ClosedScope(
                id: PolicyText("site.closed-\(number)"), origin: origin(number),
                match: PolicyMatch(PolicyBox([named()])))
        }
        return PolicySet(rules: (0..<size - scopes.count).map { rule($0) }, closed: scopes)
    }

    private func origin(_ number: Int) -> PolicyOrigin {
        PolicyOrigin(
            file: "/etc/keychain/policies.d/\(10 + number % 50)-site.yaml", line: number, column: 5,
            level: 2)
    }

    private mutating func rule(_ number: Int) -> PolicyRule {
        let box = PolicyBox(operations: operations(), conditions())
        let exceptions = random.chance(10) ? [PolicyBox([member()])] : []
        return PolicyRule(
            id: PolicyText("site.rule-\(number)"), origin: origin(number), effect: effect(),
            match: PolicyMatch(box, unless: exceptions))
    }

    private mutating func operations() -> PolicyOperations {
        random.pick([
            .all, .read, .write, .useKey, PolicyOperations(.readSecret),
            [PolicyOperations(.readSecret), PolicyOperations(.export)], PolicyOperations(.sign),
        ])
    }

    private mutating func effect() -> PolicyEffect {
        switch random.below(100) {
        case 0..<20: .forbid("This is not done here.")
        case 20..<55: .permit("The program reads its own secrets.")
        case 55..<90:
            .require(
                PolicyDemand(
                    random.pick([
                        .factor(.presence), .factor(.passcode),
                        .any([.factor(.biometry), .factor(.passcode)]),
                        .all([.factor(.passcode), .pam("keychain-otp", within: nil)]),
                    ]),
                    within: random.pick([.zero, .minutes(5), .minutes(15)]),
                    scope: random.pick([.context, .process, .session])))
        case 90..<93: .share("Programs of one product.")
        case 93..<95: .redact(["comment"])
        case 95..<98: .audit(.full)
        default: .limit(PolicyLimit(30, per: .minutes(1), by: ["user", "exe"], then: .deny))
        }
    }

    private mutating func conditions() -> [PolicyCondition] {
        switch kind {
        case .realistic:
            random.below(1_000) < 3 ? [extra()] : [named()] + (random.chance(60) ? [extra()] : [])
        case .hostile:
            (0..<1 + random.below(3)).map { _ in
                switch random.below(4) {
                case 0: named()
                case 1: extra()
                default: crowded()
                }
            }
        }
    }

    /// A condition on what most rules of a site name.
    private mutating func named() -> PolicyCondition {
        let number = random.below(max(size / 2, 4))
        switch random.below(20) {
        case 0..<5: return .text(.service, [.literal(PolicyText("svc-\(number).example"))])
        case 5..<7: return .text(.service, [.prefix(PolicyText("svc-\(number)."))])
        case 7..<13:
            return .text(.exe, [.literal(PolicyText("/usr/lib/product-\(number)/bin/helper"))])
        case 13..<14: return .text(.exe, [.prefix(PolicyText("/opt/product-\(number)/"))])
        case 14..<17: return .text(.app, [.literal(PolicyText("flatpak:org.example.App\(number)"))])
        default: return .text(.accessGroup, [.literal(PolicyText("team-\(number).shared"))])
        }
    }

    private mutating func member() -> PolicyCondition {
        .text(.group, [.literal(PolicyText("group-\(random.below(40))"))])
    }

    /// A condition that many requests meet.
    private mutating func extra() -> PolicyCondition {
        switch random.below(8) {
        case 0, 1: .choice(.itemClass, mask: UInt8(1 << random.below(5)))
        case 2: .boolean(.remote, random.chance(50))
        case 3: .choice(.session, mask: UInt8(1 << random.below(6)))
        case 4: member()
        case 5: .boolean(.trustedExe, true)
        case 6: .uid([1_000...59_999])
        default: .boolean(.screenLocked, true)
        }
    }

    /// A condition on a field with few values.
    private mutating func crowded() -> PolicyCondition {
        let number = random.below(max(size / 20, 4))
        return switch random.below(4) {
        case 0: .text(.group, [.literal(PolicyText("group-\(random.below(max(size / 10, 40)))"))])
        case 1: .uid([UInt32(1_000 + number)...UInt32(1_000 + number)])
        case 2: .text(.account, [.literal(PolicyText("account-\(number)"))])
        default: .text(.user, [.literal(PolicyText("user-\(number)"))])
        }
    }
}

extension Maker {
    /// Half of the requests are aimed at a rule.
    mutating func request(_ policy: PolicySet) -> PolicyRequest {
        var facts = self.facts()
        var operation = random.pick(PolicyOperation.allCases)
        if random.chance(50), let rule = policy.rules.randomElement(using: &random) {
            for condition in rule.match.box.conditions { meet(condition, &facts) }
            let own = PolicyOperation.allCases.filter(rule.match.box.operations.contains)
            if !own.isEmpty { operation = random.pick(own) }
        }
        let proof = PolicyProof(.factor(.passcode), age: .minutes(2), scope: .process)
        return PolicyRequest(
            operation, facts: facts, evidence: random.chance(30) ? [proof] : [], day: 0)
    }

    private mutating func facts() -> PolicyFacts {
        var facts = PolicyFacts()
        let number = random.below(max(size / 2, 4))
        let crowd = random.below(max(size / 20, 4))
        facts[.user] = .known([PolicyText("user-\(crowd)")])
        facts.uid = .known(UInt32(1_000 + crowd))
        facts[.group] = .known(
            (0..<8).map { _ in PolicyText("group-\(random.below(max(size / 10, 40)))") })
        facts[.exe] = .known([PolicyText("/usr/lib/product-\(number)/bin/helper")])
        facts[.service] = .known([PolicyText("svc-\(random.below(max(size / 2, 4))).example")])
        facts[.accessGroup] = .known([PolicyText("team-\(number).shared")])
        facts[.account] = .known([PolicyText("account-\(crowd)")])
        facts[.keychain] = .known(["login"])
        facts[.itemClass] = .known(UInt8(random.below(5)))
        facts[.session] = .known(UInt8(random.below(6)))
        facts[.accessible] = .known(0)
        facts[.trustedExe] = .known(true)
        facts[.remote] = .known(random.chance(20))
        facts[.active] = .known(true)
        facts[.unlocked] = .known(true)
        facts.time = MinuteOfWeek(random.below(MinuteOfWeek.count)).map { .known($0) } ?? .unknown
        return facts
    }

    private mutating func meet(_ condition: PolicyCondition, _ facts: inout PolicyFacts) {
        switch condition {
        case .text(let field, let patterns):
            switch patterns.first {
            case .literal(let text): facts[field] = .known([text])
            case .prefix(let text): facts[field] = .known([PolicyText(text.string + "some")])
            default: break
            }
        case .uid(let ranges): facts.uid = ranges.first.map { .known($0.lowerBound) } ?? .absent
        case .choice(let field, let mask):
            facts[field] = .known(UInt8(mask.trailingZeroBitCount))
        case .boolean(let field, let value): facts[field] = .known(value)
        case .flags, .age, .time, .date: break
        }
    }
}
