// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

// Texts of rules by their bytes: one hash table for all fields. A prefix of a text is found by the
// running hash at each length that a prefix of the field has, a suffix by the same from the end,
// and a pattern with stars inside by its first piece.

/// How a symbol's text relates to the field's.
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

    /// The ascending lengths of texts of one kind, consumed one by one.
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

    /// The symbol's meaning: a fact, or for an anchor the place of its patterns.
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

/// The texts of a subject and its environment in the numbers of one policy: made once for a
/// connection, and valid while the texts are the same. A class, as each judgement passes it on.
public final class NumberedTexts: Sendable {
    /// The checksum of the policy that numbered them.
    private let checksum: UInt64
    /// The facts that were numbered.
    private let facts: PolicyFacts
    /// For each field of `TextField.ofSubject`, the end of its numbers. Inline, as most fields have
    /// none.
    private let ends: InlineArray<16, Int>
    private let numbers: [UInt32]
    /// The dimensions of unknown texts.
    let unknown: UInt64

    init(_ facts: PolicyFacts, of policy: borrowing CompiledPolicy) {
        var words = FactWords(count: 0)
        var ends = InlineArray<16, Int>(repeating: 0)
        var unknown: UInt64 = 0
        for (place, field) in TextField.ofSubject.enumerated() {
            switch facts[field] {
            case .absent: break
            case .known(let values):
                for value in values {
                    policy.image.addFacts(matching: value, field, to: &words)
                }
            case .unknown: unknown |= 1 << UInt64(Dimension.of(field))
            }
            ends[place] = words.count
        }
        self.unknown = unknown
        checksum = policy.checksum
        self.facts = facts
        self.ends = ends
        numbers = (0..<words.count).map { words[$0] }
    }

    /// Whether they are the numbers that the policy would give to these facts.
    public func hold(for facts: PolicyFacts, under policy: borrowing CompiledPolicy) -> Bool {
        checksum == policy.checksum && self.facts.hasTextsOfSubject(of: facts)
    }

    /// Adds the numbers of the field at that place in `TextField.ofSubject`.
    func add(_ place: Int, to words: inout FactWords) {
        let start = place == 0 ? 0 : ends[place - 1]
        for number in start..<ends[place] { words.append(numbers[number]) }
    }
}

extension CompiledPolicy {
    /// Numbers the texts of the subject and the environment.
    public func number(_ facts: PolicyFacts) -> NumberedTexts { NumberedTexts(facts, of: self) }
}

/// Words stored inline while they fit, so that a plain request allocates no memory.
struct FactWords: Sendable {
    static let mostInline = 160
    private(set) var inline = InlineArray<160, UInt32>(repeating: 0)
    /// All words, once they no longer fit.
    private(set) var spilled: [UInt32] = []
    private(set) var count: Int

    /// The caller must set the first `count` words.
    init(count: Int) { self.count = count }

    var isSpilled: Bool { !spilled.isEmpty }

    subscript(place: Int) -> UInt32 {
        get { isSpilled ? spilled[place] : inline[place] }
        set {
            if isSpilled { spilled[place] = newValue } else { inline[place] = newValue }
        }
    }

    mutating func append(_ word: UInt32) {
        if !isSpilled, count < Self.mostInline {
            inline[count] = word
        } else {
            if !isSpilled { spill() }
            spilled.append(word)
        }
        count += 1
    }

    private mutating func spill() {
        spilled.reserveCapacity(2 * Self.mostInline)
        for place in 0..<count { spilled.append(inline[place]) }
    }
}

/// Two words of facts that refuse most candidates without a further look.
///
/// `choices` has a run of bits each for operation, class and session, and an unused bit above each
/// run. A request sets the bits of its values, a rule those it takes; each run must have one in
/// common. The last bit of a run is set in every request: a rule without a condition takes it.
/// `needs` has two bits for a boolean (may be false, may be true) and two for an item flag (may be
/// there, may be lacking): a request sets what it can be, and a rule what it needs.
package struct FactMasks: Equatable {
    package var choices: UInt32 = 0
    package var needs: UInt32 = 0

    package init(choices: UInt32) { self.choices = choices }

    private static let classShift: UInt32 = 14
    private static let sessionShift: UInt32 = 22
    package static let anyClass: UInt32 = 1 << 20
    package static let anySession: UInt32 = 1 << 28
    private static let carry: UInt32 = 0x1FFF | 0x7F << classShift | 0x7F << sessionShift
    private static let carried: UInt32 = 1 << 13 | 1 << 21 | 1 << 29
    /// The Booleans with a place, in the order of their places, as in `BooleanField`.
    private static let booleans: [BooleanField] = [
        .trustedExe, .tty, .member, .remote, .active, .screenLocked, .unlocked, .passcodeSet,
    ]
    private static let hasShift: UInt32 = 16
    private static let lacksShift: UInt32 = 24

    /// Whether a request with these facts may match a rule with those. Adding all ones to a run
    /// carries into the bit above it unless the run is empty.
    @inline(__always)
    package func meets(choices ruleChoices: UInt32, needs ruleNeeds: UInt32) -> Bool {
        let common = choices & ruleChoices
        return (common &+ Self.carry) & Self.carried == Self.carried
            && needs & ruleNeeds == ruleNeeds
    }

    package static func place(of field: BooleanField) -> UInt32? {
        field.rawValue < BooleanField.interactive.rawValue ? UInt32(field.rawValue) * 2 : nil
    }

    package static func run(of field: ChoiceField) -> (shift: UInt32, any: UInt32)? {
        switch field {
        case .itemClass: (classShift, anyClass)
        case .session: (sessionShift, anySession)
        case .accessible, .protector, .via, .transfer: nil
        }
    }

    package static func bits(has: PolicyItemFlags, lacks: PolicyItemFlags) -> UInt32 {
        UInt32(has.rawValue) << hasShift | UInt32(lacks.rawValue) << lacksShift
    }
}

extension FactMasks {
    /// The masks of the facts; an unknown fact matches every value if `unknownHolds`, else none.
    package init(_ facts: borrowing PolicyFacts, unknownHolds: Bool) {
        choices = Self.anyClass | Self.anySession
        for field in [ChoiceField.itemClass, .session] {
            guard let run = Self.run(of: field) else { continue }
            switch facts[field] {
            case .known(let value) where value < field.count:
                choices |= 1 << (run.shift + UInt32(value))
            case .unknown where unknownHolds: choices |= (run.any - 1) & ~((1 << run.shift) - 1)
            case .absent, .known, .unknown: break
            }
        }
        for field in Self.booleans { set(field, facts[field], unknownHolds) }
        switch facts.flags {
        case .absent: needs |= Self.bits(has: [], lacks: Self.allFlags)
        case .known(let flags):
            needs |= Self.bits(has: flags, lacks: Self.allFlags.subtracting(flags))
        case .unknown where unknownHolds:
            needs |= Self.bits(has: Self.allFlags, lacks: Self.allFlags)
        case .unknown: break
        }
    }

    private static let allFlags = PolicyItemFlags(rawValue: .max)

    package mutating func set(_ field: BooleanField, _ fact: Fact<Bool>, _ unknownHolds: Bool) {
        guard let place = Self.place(of: field) else { return }
        needs &= ~(3 << place)
        switch fact {
        case .absent: needs |= (field.whenAbsent ? 2 : 1) << place
        case .known(let value): needs |= (value ? 2 : 1) << place
        case .unknown: needs |= (unknownHolds ? 3 : 0) << place
        }
    }
}
