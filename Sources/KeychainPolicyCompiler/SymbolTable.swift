// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// Gathers the texts of a policy while it is compiled, and numbers its facts.
struct SymbolTable {
    private struct Key: Hashable {
        let field: TextField
        let kind: SymbolKind
        let text: PolicyText
    }

    private struct Glob {
        let fact: UInt32
        let pieces: [PolicyText]
        let open: Bool
    }

    private var facts: [TextField: [TextPattern: UInt32]] = [:]
    private var symbols: [Key: UInt32] = [:]
    private var order: [Key] = []
    private var globs: [Key: [Glob]] = [:]
    private(set) var texts = TextPool()

    /// The fact's number; a new one for a pattern that is new to its field.
    mutating func fact(_ field: TextField, _ pattern: TextPattern) -> UInt32 {
        if let known = facts[field]?[pattern] { return known }
        let place = UInt32(facts[field, default: [:]].count + 1)
        let fact = Dimension.fact(Int(field.rawValue), place)
        facts[field, default: [:]][pattern] = fact
        switch pattern {
        case .literal(let text): add(Key(field: field, kind: .literal, text: text), fact)
        case .prefix(let text): add(Key(field: field, kind: .prefix, text: text), fact)
        case .suffix(let text): add(Key(field: field, kind: .suffix, text: text), fact)
        case .pieces(let pieces, let open):
            let key = Key(field: field, kind: .anchor, text: pieces.first ?? "")
            if globs[key] == nil { add(key, 0) }
            globs[key, default: []].append(Glob(fact: fact, pieces: pieces, open: open))
        }
        return fact
    }

    private mutating func add(_ key: Key, _ fact: UInt32) {
        symbols[key] = fact
        order.append(key)
    }

    /// The number of patterns in the field with the most.
    var largestField: Int { facts.values.map(\.count).max() ?? 0 }

    package mutating func place(_ text: PolicyText) -> [UInt32] { texts.place(text) }

    /// The sections of texts, symbols, lengths and patterns.
    mutating func sections() -> [PolicyImage.Section: [UInt32]] {
        let globWords = layGlobs()
        var records: [UInt32] = []
        for key in order {
            records.append(PolicyImage.symbolHead(key.field, key.kind))
            records += texts.place(key.text)
            records.append(symbols[key, default: 0])
        }
        let (places, lengths) = layLengths()
        return [
            .symbols: records, .symbolSlots: hashed(), .lengthPlaces: places,
            .lengths: lengths, .globs: globWords, .bytes: texts.words,
        ]
    }

    private mutating func layGlobs() -> [UInt32] {
        var words: [UInt32] = []
        for key in order {
            guard let list = globs[key] else { continue }
            symbols[key] = UInt32(words.count)
            words.append(UInt32(list.count))
            for glob in list {
                words += [glob.fact, glob.open ? 1 : 0, UInt32(glob.pieces.count)]
                for piece in glob.pieces { words += texts.place(piece) }
            }
        }
        return words
    }

    private func hashed() -> [UInt32] {
        var size = 1
        while size < order.count * 3 / 2 + 1 { size *= 2 }
        var slots = [UInt32](repeating: 0, count: size)
        for (number, key) in order.enumerated() {
            let hash = SymbolHash.of(Array(key.text.string.utf8), key.field, key.kind)
            var slot = Int(hash) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(number + 1)
        }
        return slots
    }

    private func layLengths() -> (places: [UInt32], lengths: [UInt32]) {
        var sets: [UInt32: Set<UInt32>] = [:]
        for key in order {
            let head = UInt32(key.field.rawValue) * 4 + key.kind.rawValue
            sets[head, default: []].insert(UInt32(key.text.string.utf8.count))
        }
        var places: [UInt32] = []
        var lengths: [UInt32] = []
        for head in 0..<UInt32(TextField.allCases.count * SymbolKind.allCases.count) {
            let own = sets[head, default: []].sorted()
            places += [UInt32(lengths.count), UInt32(own.count)]
            lengths += own
        }
        return (places, lengths)
    }
}

/// Distinct texts, compared by their bytes.
struct TextPool {
    private var places: [PolicyText: Int] = [:]
    private var bytes: [UInt8] = []

    /// The place and the length of the text.
    package mutating func place(_ text: PolicyText) -> [UInt32] {
        let length = UInt32(text.string.utf8.count)
        if let known = places[text] { return [UInt32(known), length] }
        places[text] = bytes.count
        defer { bytes += text.string.utf8 }
        return [UInt32(bytes.count), length]
    }

    /// Four bytes to a word, the first byte lowest.
    var words: [UInt32] {
        var words = [UInt32](repeating: 0, count: (bytes.count + 3) / 4)
        for (place, byte) in bytes.enumerated() {
            words[place / 4] |= UInt32(byte) << (8 * UInt32(place % 4))
        }
        return words
    }
}

extension SymbolTable {
    /// The place of a fact's text among those of its field, sorted (suffixes by their ends), and
    /// the end of the texts that begin with it.
    struct Rank {
        let isSuffix: Bool
        package let place: Int
        let end: Int
    }

    /// The rank of every fact. A pattern with stars inside has the rank of its first piece, since
    /// every text that matches it begins with that piece.
    func ranks() -> [UInt32: Rank] {
        var ranks: [UInt32: Rank] = [:]
        for patterns in facts.values {
            rank(patterns.filter(\.key.isSuffix), isSuffix: true, into: &ranks)
            rank(patterns.filter { !$0.key.isSuffix }, isSuffix: false, into: &ranks)
        }
        return ranks
    }

    private func rank(
        _ patterns: [TextPattern: UInt32], isSuffix: Bool, into ranks: inout [UInt32: Rank]
    ) {
        let sorted = patterns.map { (key: $0.key.rankKey, fact: $0.value) }
            .sorted { a, b in
                if a.key.bytes == b.key.bytes { return a.key.extends && !b.key.extends }
                return a.key.bytes.lexicographicallyPrecedes(b.key.bytes)
            }
        var open: [Int] = []
        var ends = [Int](repeating: 0, count: sorted.count)
        for (place, item) in sorted.enumerated() {
            while let last = open.last,
                !sorted[last].key.extends
                    || !item.key.bytes.starts(with: sorted[last].key.bytes)
            {
                ends[last] = place
                open.removeLast()
            }
            open.append(place)
        }
        for place in open { ends[place] = sorted.count }
        for (place, item) in sorted.enumerated() {
            ranks[item.fact] = Rank(isSuffix: isSuffix, place: place, end: ends[place])
        }
    }
}

extension TextPattern {
    fileprivate var isSuffix: Bool {
        if case .suffix = self { true } else { false }
    }

    /// The bytes that it is sorted by, and whether longer texts match it too.
    fileprivate var rankKey: (bytes: [UInt8], extends: Bool) {
        switch self {
        case .literal(let text): (Array(text.string.utf8), false)
        case .prefix(let text): (Array(text.string.utf8), true)
        case .suffix(let text): (text.string.utf8.reversed(), true)
        case .pieces(let pieces, _): (Array((pieces.first ?? "").string.utf8), true)
        }
    }
}
