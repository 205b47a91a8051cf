// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
public import KeychainPolicyModel

extension PolicyGenerator {
    /// The day of all requests; rules complain until it or longer.
    public static let day: Int32 = 10

    /// A request aimed at one of the rules, or at none.
    public mutating func request(for policy: PolicySet) -> PolicyRequest {
        var facts = randomFacts()
        var operation = random.pick(PolicyOperation.allCases)
        let matches = policy.rules.map(\.match) + policy.closed.map(\.match)
        if random.chance(60), !matches.isEmpty {
            let box = random.pick(matches).box
            aim(&facts, at: box)
            let own = PolicyOperation.allCases.filter(box.operations.contains)
            if !own.isEmpty { operation = random.pick(own) }
        }
        if random.chance(20) { facts[random.pick(TextField.allCases)] = .unknown }
        facts.constraint = itemConstraint()
        var request = PolicyRequest(
            operation, facts: facts, evidence: evidence(), day: Self.day)
        if operation == .update, random.chance(50) {
            var before = randomFacts()
            before.constraint = itemConstraint()
            request.before = before
        }
        return request
    }

    private mutating func itemConstraint() -> PolicyItemConstraint {
        switch random.below(10) {
        case 0: .never
        case 1, 2: .needs(constraint(depth: 1))
        default: .none
        }
    }

    private mutating func evidence() -> [PolicyProof] {
        (0..<random.pick([0, 0, 1, 1, 2, 3])).map { _ in
            PolicyProof(
                random.chance(75)
                    ? .factor(random.pick(PolicyFactor.allCases))
                    : .pam(random.pick(["keychain-otp", "keychain-card", "keychain-other"])),
                age: random.chance(40) ? .zero : random.pick(Self.durations),
                scope: random.pick(Freshness.allCases))
        }
    }

    private mutating func fact<Value>(_ value: Value) -> Fact<Value> {
        switch random.below(20) {
        case 0: .unknown
        case 1..<9: .absent
        default: .known(value)
        }
    }

    private mutating func randomFacts() -> PolicyFacts {
        var facts = PolicyFacts()
        for field in TextField.allCases {
            let count = field == .group ? random.pick([0, 1, 2, 5]) : 1
            facts[field] = fact((0..<count).map { _ in random.pick(Self.texts) })
        }
        for field in ChoiceField.allCases {
            facts[field] = fact(UInt8(random.below(Int(field.count))))
        }
        for field in BooleanField.allCases { facts[field] = fact(random.chance(50)) }
        for field in AgeField.allCases { facts[field] = fact(random.pick(Self.durations)) }
        facts.uid = fact(random.pick([0, 4, 5, 20, 999, 1000, 1001, 1002, 2000, .max]))
        facts.flags = fact(PolicyItemFlags(rawValue: UInt8(random.below(8))))
        let minutes = [0, 359, 360, 539, 540, 1_019, 1_020, 1_320].map {
            $0 + 1_440 * random.below(7)
        }
        facts.time = MinuteOfWeek(random.pick(minutes)).map { fact($0) } ?? .absent
        if random.chance(30) { facts.date = fact(Self.day + Int32(random.below(5)) - 2) }
        return facts
    }

    /// Sets the facts that the box asks for; a pattern gets a text that matches it.
    private mutating func aim(_ facts: inout PolicyFacts, at box: PolicyBox) {
        for condition in box.conditions {
            switch condition {
            case .text(let field, let patterns):
                let matching = Self.texts.filter { text in
                    patterns.contains { $0.matches(text) }
                }
                if !matching.isEmpty { facts[field] = .known([random.pick(matching)]) }
            case .uid(let ranges):
                facts.uid = .known(random.pick(ranges).lowerBound)
            case .choice(let field, let mask):
                let values = (0..<field.count).filter { mask & (1 << $0) != 0 }
                if !values.isEmpty { facts[field] = .known(random.pick(values)) }
            case .boolean(let field, let value): facts[field] = .known(value)
            case .flags(let has, _): facts.flags = .known(has)
            case .age(let field, let range): facts[field] = .known(range.upperBound)
            case .time: break
            case .date(let days):
                facts.date = .known(min(max(Self.day, days.lowerBound), days.upperBound))
            }
        }
    }
}
