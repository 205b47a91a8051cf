// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Finds the cases that a match meets among many, all at once: texts are looked up, and every other
/// condition is tested on each case only once.
struct CaseIndex {
    typealias Case = (operation: PolicyOperation, facts: PolicyFacts)

    /// The cases in which a condition is true, and those in which it is not false.
    struct Truths {
        let certain: CaseSet
        let possible: CaseSet

        static func & (a: Self, b: Self) -> Self {
            Self(certain: a.certain & b.certain, possible: a.possible & b.possible)
        }
    }

    private struct Texts {
        var cases: [PolicyText: [Int]] = [:]
        var unknown: [Int] = []
        /// The texts, sorted, so that those with the same beginning are neighbours.
        var sorted: [PolicyText] = []

        func matching(_ pattern: TextPattern) -> [PolicyText] {
            switch pattern {
            case .literal(let text): return [text]
            case .prefix(let start):
                var (low, high) = (0, sorted.count)
                while low < high {
                    let middle = (low + high) / 2
                    if sorted[middle] < start { low = middle + 1 } else { high = middle }
                }
                return Array(sorted[low...].prefix(while: pattern.matches))
            case .suffix, .pieces: return sorted.filter(pattern.matches)
            }
        }
    }

    let cases: [Case]
    let everything: CaseSet
    private var texts: [TextField: Texts] = [:]
    private var byOperations: [PolicyOperations: CaseSet] = [:]
    private var byCondition: [PolicyCondition: Truths] = [:]

    init(_ cases: [Case]) {
        self.cases = cases
        var everything = CaseSet(of: cases.count)
        for number in cases.indices { everything.insert(number) }
        self.everything = everything
        for field in TextField.allCases {
            var own = Texts()
            for (number, (_, facts)) in cases.enumerated() {
                switch facts[field] {
                case .absent: break
                case .unknown: own.unknown.append(number)
                case .known(let texts):
                    for text in texts { own.cases[text, default: []].append(number) }
                }
            }
            own.sorted = own.cases.keys.sorted()
            texts[field] = own
        }
    }

    /// The cases that the match meets; with `certainly`, without those in which that is unknown.
    mutating func meeting(_ match: PolicyMatch, certainly: Bool) -> CaseSet {
        match.parts.reduce(everything) { $0 & meeting($1.part, of: match, certainly: certainly) }
    }

    mutating func meeting(
        _ part: MatchPart, of match: PolicyMatch, certainly: Bool
    ) -> CaseSet {
        switch part {
        case .operations:
            return meeting(match.box.operations)
        case .condition(let place):
            let truths = truths(of: match.box.conditions[place])
            return certainly ? truths.certain : truths.possible
        case .exception(let place):
            let truths = truths(of: match.exceptions[place])
            return everything - (certainly ? truths.possible : truths.certain)
        }
    }

    mutating func truths(of box: PolicyBox) -> Truths {
        let own = meeting(box.operations)
        return box.conditions.reduce(Truths(certain: own, possible: own)) { $0 & truths(of: $1) }
    }

    private mutating func meeting(_ operations: PolicyOperations) -> CaseSet {
        if let known = byOperations[operations] { return known }
        let found = set { operations.contains($0.operation) }
        byOperations[operations] = found
        return found
    }

    private mutating func truths(of condition: PolicyCondition) -> Truths {
        if case .text(let field, let patterns) = condition { return truths(of: field, patterns) }
        if let known = byCondition[condition] { return known }
        let found = Truths(
            certain: set { condition.truth(of: $0.facts) == .yes },
            possible: set { condition.truth(of: $0.facts) != .no })
        byCondition[condition] = found
        return found
    }

    private func set(_ isIn: (Case) -> Bool) -> CaseSet {
        var found = CaseSet(of: cases.count)
        for (number, own) in cases.enumerated() where isIn(own) { found.insert(number) }
        return found
    }

    private func truths(of field: TextField, _ patterns: [TextPattern]) -> Truths {
        let own = texts[field, default: Texts()]
        var certain = CaseSet(of: cases.count)
        for text in patterns.flatMap(own.matching) {
            for number in own.cases[text, default: []] { certain.insert(number) }
        }
        var possible = certain
        for number in own.unknown { possible.insert(number) }
        return Truths(certain: certain, possible: possible)
    }

    /// The cases that name the text.
    func naming(_ text: PolicyText, as field: TextField) -> [Int] {
        texts[field]?.cases[text] ?? []
    }
}
