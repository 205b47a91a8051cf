// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The texts that a set of patterns tells apart: one text for each combination of patterns that
/// some text matches. They are found by following all patterns at once, character by character,
/// over the characters that the patterns name and one that none of them names.
struct TextClasses {
    struct Class {
        let text: PolicyText
        /// The indices of the patterns that it matches.
        let matches: Set<Int>
    }

    private(set) var classes: [Class] = []

    /// An element of a pattern.
    private enum Token: Hashable {
        case scalar(Unicode.Scalar)
        /// Any run without `/`.
        case segment
        /// Any run at all.
        case anything
    }

    /// A place in a pattern that a text has reached.
    private struct Place: Hashable {
        let pattern: Int
        let token: Int
    }

    private let tokens: [[Token]]

    /// Texts without stars differ from each other anyway. A text is followed together with the
    /// patterns only where a pattern with stars matches it.
    init(_ patterns: [TextPattern], _ budget: inout Budget) throws(Budget.Spent) {
        var walked = patterns.indices.filter { patterns[$0].literal == nil }
        var apart: [PolicyText: Int] = [:]
        for (place, pattern) in patterns.enumerated() {
            if let text = pattern.literal { apart[text] = place }
        }
        while true {
            let found = try TextClasses(walking: walked.map { patterns[$0] }, &budget)
            let taken = Set(found.classes.compactMap { apart.removeValue(forKey: $0.text) })
            guard taken.isEmpty else {
                walked += taken.sorted()
                continue
            }
            tokens = found.tokens
            classes = found.classes.map { own in
                Class(text: own.text, matches: Set(own.matches.map { walked[$0] }))
            }
            break
        }
        try budget.spend(apart.count * (1 + walked.count / 4))
        for (text, place) in apart.sorted(by: { $0.value < $1.value }) {
            let others = walked.filter { patterns[$0].matches(text) }
            classes.append(Class(text: text, matches: Set([place] + others)))
        }
    }

    private init(
        walking patterns: [TextPattern], _ budget: inout Budget
    ) throws(Budget.Spent) {
        tokens = patterns.map(Self.tokens)
        let alphabet = Self.alphabet(tokens)
        var seen: Set<Set<Place>> = []
        var found: Set<Set<Int>> = []
        var queue: [(state: Set<Place>, text: String)] = [(start, "")]
        var next = 0
        while next < queue.count {
            let (state, text) = queue[next]
            next += 1
            for scalar in alphabet {
                try budget.spend(1 + state.count)
                let after = step(state, scalar)
                guard seen.insert(after).inserted else { continue }
                let longer = text + String(scalar)
                let matches = Set(after.filter(isEnd).map(\.pattern))
                if found.insert(matches).inserted {
                    classes.append(Class(text: PolicyText(longer), matches: matches))
                }
                queue.append((after, longer))
            }
        }
    }

    private static func tokens(_ pattern: TextPattern) -> [Token] {
        func scalars(_ text: PolicyText) -> [Token] { text.string.unicodeScalars.map(Token.scalar) }
        switch pattern {
        case .literal(let text): return scalars(text)
        case .prefix(let text): return scalars(text) + [.anything]
        case .suffix(let text): return [.anything] + scalars(text)
        case .pieces(let pieces, let open):
            let parts = pieces.map(scalars).joined(separator: [.segment])
            return Array(parts) + (open ? [.anything] : [])
        }
    }

    /// One character that no pattern names stands for all such characters.
    private static func alphabet(_ tokens: [[Token]]) -> [Unicode.Scalar] {
        var named: Set<Unicode.Scalar> = []
        for case .scalar(let scalar) in tokens.joined() { named.insert(scalar) }
        let others = "x0123456789yzwvutsrqponmlkjihgfedcba-_".unicodeScalars
        let spare = (0x4E00...0x9FFF).lazy.compactMap(Unicode.Scalar.init)
        let other = others.first { !named.contains($0) } ?? spare.first { !named.contains($0) }
        named.insert("/")
        return [other].compactMap(\.self) + named.sorted { $0.value < $1.value }
    }

    private var start: Set<Place> {
        closure(Set(tokens.indices.map { Place(pattern: $0, token: 0) }))
    }

    private func isEnd(_ place: Place) -> Bool { place.token == tokens[place.pattern].count }

    private func step(_ state: Set<Place>, _ scalar: Unicode.Scalar) -> Set<Place> {
        var after: Set<Place> = []
        for place in state where !isEnd(place) {
            switch tokens[place.pattern][place.token] {
            case .scalar(let own) where own == scalar:
                after.insert(Place(pattern: place.pattern, token: place.token + 1))
            case .segment where scalar != "/": after.insert(place)
            case .anything: after.insert(place)
            case .scalar, .segment: break
            }
        }
        return closure(after)
    }

    /// A run may be empty.
    private func closure(_ state: Set<Place>) -> Set<Place> {
        var closed = state
        var open = Array(state)
        while let place = open.popLast() {
            guard !isEnd(place) else { continue }
            if case .scalar = tokens[place.pattern][place.token] { continue }
            let next = Place(pattern: place.pattern, token: place.token + 1)
            if closed.insert(next).inserted { open.append(next) }
        }
        return closed
    }
}

extension TextPattern {
    fileprivate var literal: PolicyText? {
        if case .literal(let text) = self { text } else { nil }
    }
}
