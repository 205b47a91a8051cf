// SPDX-License-Identifier: Apache-2.0
// Texts of rules by their bytes: one hash table for all fields. A prefix of a text is found by the
// running hash at each length that a prefix of the field has, a suffix by the same from the end,
// and a pattern with stars inside by its first piece.
package import KeychainPolicyModel

/// What a symbol's text is to the field.
package enum SymbolKind: UInt32, CaseIterable {
    case literal, prefix, suffix
    /// The first piece of a pattern with stars inside.
    case anchor
}

/// FNV-1a of the bytes, seeded with the field, and finished with the kind.
package struct SymbolHash {
    private var state: UInt32

    package init(_ field: TextField) { state = 0x811C_9DC5 ^ UInt32(field.rawValue) &* 0x9E37_79B1 }

    package mutating func add(_ byte: UInt8) { state = (state ^ UInt32(byte)) &* 0x0100_0193 }

    package func finished(_ kind: SymbolKind) -> UInt32 {
        let mixed = (state ^ kind.rawValue &* 0x85EB_CA6B) &* 0x9E37_79B1
        return mixed ^ mixed >> 15
    }

    package static func of(_ text: [UInt8], _ field: TextField, _ kind: SymbolKind) -> UInt32 {
        var hash = Self(field)
        if kind == .suffix {
            for byte in text.reversed() { hash.add(byte) }
        } else {
            for byte in text { hash.add(byte) }
        }
        return hash.finished(kind)
    }
}

extension PolicyImage {
    package static func symbolHead(_ field: TextField, _ kind: SymbolKind) -> UInt32 {
        UInt32(field.rawValue) << 8 | kind.rawValue
    }

    /// Adds the numbers of all patterns of the field that the text matches.
    func addFacts(matching text: PolicyText, _ field: TextField, to found: inout FactWords) {
        var prefixes = lengths(field, .prefix)
        var anchors = lengths(field, .anchor)
        var suffixes = lengths(field, .suffix)
        let literals = lengths(field, .literal)
        if prefixes.isEmpty && anchors.isEmpty && suffixes.isEmpty && literals.isEmpty { return }
        let text = text.string.utf8
        let bytes = text.span
        var hash = SymbolHash(field)
        for length in 0...bytes.count {
            if length > 0 { hash.add(bytes[length - 1]) }
            if prefixes.reaches(length, self),
                let fact = symbol(bytes, 0..<length, field, .prefix, hash.finished(.prefix))
            {
                found.append(fact)
            }
            if anchors.reaches(length, self),
                let globs = symbol(bytes, 0..<length, field, .anchor, hash.finished(.anchor))
            {
                addMatches(globs: Int(globs), Array(text), to: &found)
            }
        }
        if let fact = symbol(bytes, 0..<bytes.count, field, .literal, hash.finished(.literal)) {
            found.append(fact)
        }
        if suffixes.isEmpty { return }
        hash = SymbolHash(field)
        for length in 0...bytes.count {
            if length > 0 { hash.add(bytes[bytes.count - length]) }
            if suffixes.reaches(length, self),
                let fact = symbol(
                    bytes, bytes.count - length..<bytes.count, field, .suffix,
                    hash.finished(.suffix))
            {
                found.append(fact)
            }
        }
    }

    /// The lengths, ascending, that texts of the kind have, as they are passed one by one.
    private struct Lengths {
        var place: Int
        let end: Int

        var isEmpty: Bool { place == end }

        /// Whether the length, longer than the last one asked for, is one of them.
        mutating func reaches(_ length: Int, _ image: PolicyImage) -> Bool {
            guard place < end, Int(image.words[place]) <= length else { return false }
            defer { place += 1 }
            return Int(image.words[place]) == length
        }
    }

    private func lengths(_ field: TextField, _ kind: SymbolKind) -> Lengths {
        let record = Int(field.rawValue) * SymbolKind.allCases.count + Int(kind.rawValue)
        let start = start(.lengths) + Int(word(.lengthPlaces, record))
        return Lengths(place: start, end: start + Int(word(.lengthPlaces, record, 1)))
    }

    /// What the symbol stands for: a fact, or for an anchor the place of its patterns.
    private func symbol(
        _ text: Span<UInt8>, _ part: Range<Int>, _ field: TextField, _ kind: SymbolKind,
        _ hash: UInt32
    ) -> UInt32? {
        let slots = start(.symbolSlots)
        let mask = length(.symbolSlots) - 1
        guard mask >= 0 else { return nil }
        let head = Self.symbolHead(field, kind)
        var slot = Int(hash) & mask
        while words[slots + slot] != 0 {
            let record = Int(words[slots + slot]) - 1
            if word(.symbols, record) == head, isText(of: record, equalTo: text, part) {
                return word(.symbols, record, 3)
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private func isText(
        of symbol: Int, equalTo text: Span<UInt8>, _ part: Range<Int>
    ) -> Bool {
        guard Int(word(.symbols, symbol, 2)) == part.count else { return false }
        var place = Int(word(.symbols, symbol, 1))
        let start = start(.bytes)
        for at in part {
            let own = words[start + place / 4] >> (8 * UInt32(place % 4))
            guard UInt8(truncatingIfNeeded: own) == text[at] else { return false }
            place += 1
        }
        return true
    }

    private func addMatches(globs place: Int, _ text: [UInt8], to found: inout FactWords) {
        var at = start(.globs) + place
        let count = words[at]
        at += 1
        for _ in 0..<count {
            let number = Int(words[at + 2])
            let pieces = (0..<number).map { piece in
                bytes(Int(words[at + 3 + 2 * piece]), Int(words[at + 4 + 2 * piece]))
            }
            if TextPattern.match(pieces, words[at + 1] != 0, text) { found.append(words[at]) }
            at += 3 + 2 * number
        }
    }
}
