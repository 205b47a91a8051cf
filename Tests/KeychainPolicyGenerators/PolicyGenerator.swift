// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
public import KeychainPolicyModel

/// Random policies over vocabularies so small that rules collide, contain and shadow each other.
public struct PolicyGenerator {
    public var random: SplitMix
    /// The text fields that rules mention; with fewer of them more rules collide.
    private let fields: [TextField]

    public init(seed: UInt64, fields: [TextField] = TextField.allCases) {
        random = SplitMix(seed: seed)
        self.fields = fields
    }

    public static let texts: [PolicyText] = [
        "a", "ab", "a.b", "ab.b", ".b", "/x", "/x/a", "/x/y", "/x/y/a", "/x/y/z/a", "a/b", "ac/b",
        "\u{E9}", "e\u{301}", "c",
    ]

    public static let patterns: [TextPattern] =
        texts.map(TextPattern.literal)
        + ["*", "a*", "a.*", "ab*", "*.b", "/x/*", "/x/**", "/x/*/a", "/*/y/**", "a*b", "a*b*"]
        .compactMap { try? TextPattern($0) }

    /// A policy of at most `most` rules.
    public mutating func policy(rules most: Int) -> PolicySet {
        let rules = (0..<random.below(most + 1)).map { rule($0) }
        let closed = (0..<random.below(3)).map { number in
            ClosedScope(
                id: id(number, "c"), origin: origin(number), mode: mode(), match: dated(match()))
        }
        let groups = (0..<random.below(3)).map { number in
            GroupMembership(
                id: id(number, "g"), origin: origin(number), group: random.pick(Self.texts),
                members: (0..<1 + random.below(2)).map { _ in
                    conditions().filter { $0.fieldName != "subject.member" }
                        + (random.chance(20) ? [date()] : [])
                },
                operations: random.chance(50) ? .read : .all)
        }
        return PolicySet(rules: rules, closed: closed, groups: groups)
    }

    /// Ids that are not in the order of the rules.
    private mutating func id(_ number: Int, _ kind: String) -> PolicyText {
        PolicyText("\(random.pick("abc"))\(number).\(kind)")
    }

    private func origin(_ number: Int) -> PolicyOrigin {
        PolicyOrigin(file: "\(number % 3).yaml", line: number + 1, column: 5, level: number % 2)
    }

    private mutating func mode() -> PolicyMode {
        random.chance(15) ? .permissive(untilDay: random.chance(70) ? 20 : 10) : .enforce
    }

    private mutating func rule(_ number: Int) -> PolicyRule {
        PolicyRule(
            id: id(number, "r"), origin: origin(number), mode: mode(), effect: effect(),
            match: dated(match()))
    }

    /// Makes some matches hold on some days only, all of them near the requests' day.
    private mutating func dated(_ match: PolicyMatch) -> PolicyMatch {
        var match = match
        if random.chance(20) { match.box.conditions.append(date()) }
        return match
    }

    private mutating func date() -> PolicyCondition {
        let first = random.pick([.min, Self.day - 1, Self.day, Self.day + 1])
        let last = random.pick([.max, Self.day - 1, Self.day, Self.day + 1])
        return .date(min(first, last)...max(first, last))
    }

    private mutating func effect() -> PolicyEffect {
        switch random.below(16) {
        case 0..<4: .forbid("no")
        case 4..<7: .permit("yes")
        case 7..<9: .share("ours")
        case 9..<13:
            .require(
                PolicyDemand(
                    constraint(depth: 2), within: random.pick(Self.durations),
                    scope: random.pick(Freshness.allCases)))
        case 13: .redact((0..<1 + random.below(2)).map { _ in random.pick(Self.texts) })
        case 14: .audit(random.chance(70) ? .full : .decision)
        default:
            .limit(
                PolicyLimit(
                    UInt32(1 + random.below(9)), per: .minutes(1), by: ["user", "exe"],
                    then: random.chance(50) ? .deny : .require(constraint(depth: 1))))
        }
    }

    static let durations: [PolicyDuration] = [
        .zero, .minutes(5), .minutes(15), .minutes(20), .hours(12), .hours(13),
    ]

    public mutating func constraint(depth: Int) -> PolicyConstraint {
        guard depth > 0, random.chance(40) else {
            guard random.chance(25) else { return .factor(random.pick(PolicyFactor.allCases)) }
            let within = random.chance(50) ? random.pick(Self.durations) : nil
            return .pam(random.chance(50) ? "keychain-otp" : "keychain-card", within: within)
        }
        let children = (0..<1 + random.below(3)).map { _ in constraint(depth: depth - 1) }
        return switch random.below(3) {
        case 0: .any(children)
        case 1: .all(children)
        default: .atLeast(1 + random.below(children.count), of: children)
        }
    }

    private mutating func match() -> PolicyMatch {
        let exceptions = random.chance(25) ? (0..<1 + random.below(2)).map { _ in box() } : []
        return PolicyMatch(box(), unless: exceptions.filter { !$0.conditions.isEmpty })
    }

    private mutating func box() -> PolicyBox {
        PolicyBox(operations: operations(), conditions())
    }

    private mutating func operations() -> PolicyOperations {
        switch random.below(4) {
        case 0, 1: .all
        case 2: PolicyOperations(random.pick(PolicyOperation.allCases))
        default: random.pick([.write, .useKey, [PolicyOperations(.export), .read]])
        }
    }

    private mutating func conditions() -> [PolicyCondition] {
        (0..<random.pick([0, 1, 1, 1, 2, 2, 3])).map { _ in condition() }
    }

    private mutating func condition() -> PolicyCondition {
        switch random.below(16) {
        case 0..<8:
            .text(
                random.pick(fields),
                (0..<random.pick([1, 1, 1, 2, 3])).map { _ in random.pick(Self.patterns) })
        case 8:
            .uid(
                random.pick([
                    [0...0], [1000...1001], [5...1000, 2000...UInt32.max], [1...9, 4...20],
                ]))
        case 9, 10:
            .choice(random.pick(ChoiceField.allCases), mask: UInt8(1 + random.below(63)))
        case 11, 12: .boolean(random.pick(BooleanField.allCases), random.chance(50))
        case 13:
            .flags(
                has: PolicyItemFlags(rawValue: UInt8(random.below(4))),
                lacks: PolicyItemFlags(rawValue: UInt8(random.below(4)) << 1))
        case 14: age()
        default: time()
        }
    }

    private mutating func age() -> PolicyCondition {
        let ends = [random.pick(Self.durations), random.pick(Self.durations)].sorted()
        let open = random.chance(30) ? PolicyDuration(milliseconds: .max) : ends[1]
        return .age(random.pick(AgeField.allCases), ends[0]...open)
    }

    private mutating func time() -> PolicyCondition {
        let windows = [
            WeekWindow(from: 540, to: 1_020), WeekWindow(days: 0b001_0000, from: 1_320, to: 360),
            WeekWindow(days: 0b110_0000),
        ].compactMap(\.self)
        return .time([random.pick(windows), random.pick(windows)], outside: random.chance(40))
    }
}
