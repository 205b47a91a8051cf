// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The requests for which a box's truth is at least `least`: `.yes`, or `.unknown` where facts that
/// could not be established count too.
struct Area: Hashable {
    let box: PolicyBox
    let least: Truth

    /// False only where no request can be in both.
    func mayOverlap(_ other: Area) -> Bool {
        guard !box.operations.isDisjoint(with: other.box.operations) else { return false }
        // All conditions overlap where the facts are unknown.
        if least == .unknown, other.least == .unknown { return true }
        return box.conditions.allSatisfy { own in
            other.box.conditions.allSatisfy { own.mayOverlap($0) }
        }
    }
}

extension PolicyCondition {
    func mayOverlap(_ other: PolicyCondition) -> Bool {
        switch (self, other) {
        case (.choice(let a, let own), .choice(let b, let its)): a != b || own & its != 0
        case (.boolean(let a, let own), .boolean(let b, let its)):
            a != b || own == its || a == .member
        case (.uid(let own), .uid(let its)):
            own.contains { range in its.contains { $0.overlaps(range) } }
        case (.date(let own), .date(let its)): own.overlaps(its)
        case (.text(let a, let own), .text(let b, let its)):
            a != b || a == .group
                || own.contains { pattern in its.contains { pattern.mayOverlap($0) } }
        default: true
        }
    }
}

extension TextPattern {
    func mayOverlap(_ other: TextPattern) -> Bool {
        switch (self, other) {
        case (.literal(let text), _): other.matches(text)
        case (_, .literal(let text)): matches(text)
        case (.prefix(let a), .prefix(let b)):
            a.string.utf8.starts(with: b.string.utf8) || b.string.utf8.starts(with: a.string.utf8)
        default: true
        }
    }
}

/// The texts that requests in some areas can have, as their boxes tell.
struct NearTexts {
    private struct Patterns {
        var literals: Set<PolicyText> = []
        var others: [TextPattern] = []

        func mayOverlap(_ pattern: TextPattern) -> Bool {
            switch pattern {
            case .literal(let text):
                literals.contains(text) || others.contains { $0.matches(text) }
            default:
                literals.contains { pattern.matches($0) }
                    || others.contains { $0.mayOverlap(pattern) }
            }
        }
    }

    /// Patterns of the fields that all areas name.
    private var patterns: [TextField: Patterns] = [:]

    init(_ areas: [Area]) {
        for field in TextField.allCases where field != .group {
            let own = areas.map { area in
                area.box.conditions.filter { $0.isText(field) }.flatMap(\.patterns)
            }
            guard own.allSatisfy({ !$0.isEmpty }) else { continue }
            var found = Patterns()
            for pattern in own.joined() {
                if case .literal(let text) = pattern {
                    found.literals.insert(text)
                } else {
                    found.others.append(pattern)
                }
            }
            patterns[field] = found
        }
    }

    /// The box for requests in the areas, without the patterns that none of them can match. A
    /// condition without patterns is never true, and may be unknown where its fact is.
    func narrow(_ box: PolicyBox) -> PolicyBox {
        let conditions = box.conditions.map { condition in
            guard case .text(let field, let own) = condition, let near = patterns[field]
            else { return condition }
            return PolicyCondition.text(field, own.filter(near.mayOverlap))
        }
        return PolicyBox(operations: box.operations, conditions)
    }

    func narrow(_ match: PolicyMatch) -> PolicyMatch {
        PolicyMatch(narrow(match.box), unless: match.exceptions.map(narrow))
    }
}
