// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// A condition as numbers: it holds where one of the request's facts in the dimension is in one of
/// the ranges.
struct FactTest: Hashable {
    let dimension: Int
    /// Ascending, ends included. A single fact is a range of one.
    let ranges: [ClosedRange<UInt32>]

    init(_ dimension: Int, _ ranges: [ClosedRange<UInt32>]) {
        self.dimension = dimension
        self.ranges = ranges
    }

    init(_ dimension: Int, facts: Set<UInt32>) {
        self.init(dimension, facts.sorted().map { $0...$0 })
    }

    var isList: Bool { ranges.allSatisfy { $0.count == 1 } }

    /// The only fact that meets the condition; nil where there are several.
    var onlyFact: UInt32? { ranges.count == 1 && isList ? ranges.first?.lowerBound : nil }

    /// A head, then the facts or the ends of the ranges.
    var words: [UInt32] {
        let head = UInt32(dimension) << 1 | UInt32(ranges.count) << 8
        if isList { return [head] + ranges.map(\.lowerBound) }
        return [head | 1] + ranges.flatMap { [$0.lowerBound, $0.upperBound] }
    }
}

/// A box as numbers.
struct CompiledBox {
    /// Facts of which every matching request has one; `test` is the test that they come from.
    struct Key {
        let dimension: Int
        let facts: [UInt32]
        let test: Int?
    }

    private(set) var masks: FactMasks
    private(set) var tests: [FactTest] = []
    private(set) var keys: [Key] = []
    private var usedRuns: UInt32 = 0

    /// A condition that covers more numbers than this can't be a key.
    private static let mostKeyAtoms = 8

    init(_ box: PolicyBox, _ symbols: inout SymbolTable, _ breakpoints: [Breakpoints]) {
        masks = FactMasks(
            choices: UInt32(box.operations.rawValue) | FactMasks.anyClass | FactMasks.anySession)
        for condition in box.conditions { add(condition, &symbols, breakpoints) }
        guard box.operations != .all else { return }
        let facts = PolicyOperation.allCases.filter(box.operations.contains).map(Dimension.fact)
        addKey(Dimension.operation, facts, test: nil)
    }

    private mutating func add(
        _ condition: PolicyCondition, _ symbols: inout SymbolTable, _ breakpoints: [Breakpoints]
    ) {
        switch condition {
        case .text(let field, let patterns):
            addTest(
                Dimension.of(field), facts: Set(patterns.map { symbols.fact(field, $0) }))
        case .choice(let field, let mask): addChoice(field, mask)
        case .boolean(let field, let value):
            if let place = FactMasks.place(of: field) {
                masks.needs |= (value ? 2 : 1) << place
                if field != .member {
                    addKey(Dimension.of(field), [Dimension.fact(field, value)], test: nil)
                }
            } else {
                addTest(Dimension.of(field), facts: [Dimension.fact(field, value)])
            }
        case .flags(let has, let lacks): masks.needs |= FactMasks.bits(has: has, lacks: lacks)
        case .uid, .age, .time, .date: addNumbers(condition, breakpoints)
        }
    }

    private mutating func addChoice(_ field: ChoiceField, _ mask: UInt8) {
        let values = (0..<field.count).filter { mask & (1 << $0) != 0 }
        let facts = values.map { Dimension.fact(field, $0) }
        guard let run = FactMasks.run(of: field), usedRuns & run.any == 0 else {
            addTest(Dimension.of(field), facts: Set(facts))
            return
        }
        usedRuns |= run.any
        masks.choices &= ~run.any
        for value in values { masks.choices |= 1 << (run.shift + UInt32(value)) }
        addKey(Dimension.of(field), facts, test: nil)
    }

    private mutating func addNumbers(_ condition: PolicyCondition, _ breakpoints: [Breakpoints]) {
        guard let (number, values) = condition.numbers, number.rawValue < breakpoints.count else {
            return
        }
        let own = breakpoints[number.rawValue]
        let ranges = values.map { range in
            let first = own.atom(of: range.lowerBound) + 1
            let last = own.atom(of: range.upperBound) + 1
            return Dimension.fact(number.dimension, first)...Dimension.fact(number.dimension, last)
        }
        let test = FactTest(number.dimension, Self.merged(ranges))
        tests.append(test)
        guard test.ranges.reduce(0, { $0 + $1.count }) <= Self.mostKeyAtoms else { return }
        addKey(number.dimension, test.ranges.flatMap { $0 }, test: tests.count - 1)
    }

    /// The same numbers in ascending ranges that don't overlap.
    private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { kept, range in
            if let last = kept.last, range.lowerBound <= last.upperBound {
                let upper = max(last.upperBound, range.upperBound)
                kept[kept.count - 1] = last.lowerBound...upper
            } else {
                kept.append(range)
            }
        }
    }

    private mutating func addTest(_ dimension: Int, facts: Set<UInt32>) {
        tests.append(FactTest(dimension, facts: facts))
        addKey(dimension, facts.sorted(), test: tests.count - 1)
    }

    private mutating func addKey(_ dimension: Int, _ facts: [UInt32], test: Int?) {
        guard !facts.isEmpty else { return }
        keys.append(Key(dimension: dimension, facts: facts, test: test))
    }
}

/// A box minus boxes as numbers.
struct CompiledMatch {
    let box: CompiledBox
    let exceptions: [CompiledBox]

    init(_ match: PolicyMatch, _ symbols: inout SymbolTable, _ breakpoints: [Breakpoints]) {
        box = CompiledBox(match.box, &symbols, breakpoints)
        var exceptions: [CompiledBox] = []
        for exception in match.exceptions {
            exceptions.append(CompiledBox(exception, &symbols, breakpoints))
        }
        self.exceptions = exceptions
    }

    /// The parts that the leaf entry lacks: tests, then the exceptions.
    var words: [UInt32] {
        var words = [UInt32(box.tests.count), UInt32(exceptions.count)]
        words += box.tests.flatMap(\.words)
        for exception in exceptions {
            let tests = exception.tests.flatMap(\.words)
            words += [exception.masks.choices, exception.masks.needs]
            words += [UInt32(exception.tests.count), UInt32(tests.count)] + tests
        }
        return words
    }
}
