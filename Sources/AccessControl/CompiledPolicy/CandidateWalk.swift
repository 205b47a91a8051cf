// SPDX-License-Identifier: Apache-2.0

/// One operation on one item while its candidates are looked through.
struct CaseView {
    var present: UInt64
    let unknown: UInt64
    var strict: QuickFacts
    var loose: QuickFacts
    var isMember: Bool
    let operationFact: UInt32
    let operation: PolicyOperation

    init(_ facts: borrowing AdmittedFacts, _ operation: PolicyOperation) {
        present = facts.present | 1 << UInt64(Dimension.operation)
        unknown = facts.unknown
        strict = facts.strict
        loose = facts.loose
        strict.choices |= 1 << UInt32(operation.index)
        loose.choices |= 1 << UInt32(operation.index)
        isMember = facts.isMember
        operationFact = Dimension.fact(operation)
        self.operation = operation
    }

    mutating func becomeMember() {
        isMember = true
        strict.set(.member, .known(true), true)
        loose.set(.member, .known(true), false)
    }

    @inline(__always)
    func isUnknown(_ dimension: UInt32) -> Bool { unknown & (1 << UInt64(dimension)) != 0 }
}

/// What becomes of the statements that match.
protocol CandidateSink {
    /// Whether the statement could still change anything.
    func wants(_ head: EntryHead) -> Bool
    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>)
}

/// Finds the statements that match a request. All numbers it follows were checked when the image
/// was loaded; Span checks them again.
struct CandidateWalk {
    private let entries: Int
    private let nodes: Int
    private let slots: Int
    private let statements: Int
    private let conditions: Int

    init(_ image: PolicyImage) {
        entries = image.start(.entries)
        nodes = image.start(.nodes)
        slots = image.start(.slots)
        statements = image.start(.statements)
        conditions = image.start(.conditions)
    }

    /// Offers every statement that matches, some of them more than once. `certain`: no unknown
    /// fact led here.
    func visit<Sink: CandidateSink>(
        node: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        certain: Bool, _ sink: inout Sink
    ) {
        let record = nodes + Int(node) * 5
        let residual = words[record + 4]
        if residual != 0 { scan(residual - 1, view, words, facts, certain, &sink) }
        let dimensions = UInt64(words[record + 2]) | UInt64(words[record + 3]) << 32
        var known = dimensions & view.present
        while known != 0 {
            let dimension = known.trailingZeroBitCount
            known &= known &- 1
            if dimension == Dimension.operation {
                follow(view.operationFact, record, view, words, facts, certain, &sink)
                continue
            }
            var place = Int(facts[dimension])
            let end = Int(facts[dimension + 1])
            while place < end {
                follow(facts[place], record, view, words, facts, certain, &sink)
                place += 1
            }
        }
        if dimensions & view.unknown != 0 {
            visitUnknown(dimensions & view.unknown, record, view, words, facts, &sink)
        }
    }

    /// Visits what is filed under the fact, if anything is.
    @inline(__always)
    private func follow<Sink: CandidateSink>(
        _ fact: UInt32, _ record: Int, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>, _ certain: Bool, _ sink: inout Sink
    ) {
        let bits = words[record + 1]
        let first = slots + 2 * Int(words[record])
        let mask = 1 << Int(bits) &- 1
        var slot = IndexBuilder.slot(fact, bits)
        while true {
            let own = words[first + 2 * slot]
            if own == 0 { return }
            if own == fact { break }
            slot = (slot &+ 1) & mask
        }
        go(words[first + 2 * slot + 1], view, words, facts, certain, &sink)
    }

    @inline(__always)
    private func go<Sink: CandidateSink>(
        _ target: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        _ certain: Bool, _ sink: inout Sink
    ) {
        if target & IndexBuilder.isNode != 0 {
            visit(
                node: target & ~IndexBuilder.isNode, view, words, facts, certain: certain, &sink)
        } else {
            scan(target, view, words, facts, certain, &sink)
        }
    }

    /// An unknown fact could be any: all that is filed under its dimension is a candidate.
    private func visitUnknown<Sink: CandidateSink>(
        _ dimensions: UInt64, _ record: Int, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>, _ sink: inout Sink
    ) {
        let first = slots + 2 * Int(words[record])
        for slot in 0..<1 << Int(words[record + 1]) {
            let fact = words[first + 2 * slot]
            guard fact != 0, dimensions & (1 << UInt64(fact >> Dimension.shift)) != 0 else {
                continue
            }
            go(words[first + 2 * slot + 1], view, words, facts, false, &sink)
        }
    }

    @inline(__always)
    private func scan<Sink: CandidateSink>(
        _ first: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        _ certain: Bool, _ sink: inout Sink
    ) {
        var entry = entries + 4 * Int(first)
        while true {
            let head = EntryHead(word: words[entry])
            let lenient = !head.grants
            let quick = lenient ? view.strict : view.loose
            if quick.meets(choices: words[entry + 1], needs: words[entry + 2]),
                certain || lenient, sink.wants(head),
                holds(entry, head, lenient, view, words, facts)
            {
                sink.take(head, view, words, facts)
            }
            if head.isLast { return }
            entry += 4
        }
    }

    /// What the entry's first words leave open; `lenient`: unknown conditions hold.
    @inline(__always)
    private func holds(
        _ entry: Int, _ head: EntryHead, _ lenient: Bool, _ view: CaseView,
        _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) -> Bool {
        let probe = words[entry + 3]
        if probe != 0, !has(probe, lenient, view, facts) { return false }
        if !head.hasMore { return true }
        let place = conditions + Int(words[statements + 4 * Int(head.statement) + 3])
        return holds(at: place, lenient, view, words, facts)
    }

    @inline(__always)
    private func has(
        _ fact: UInt32, _ lenient: Bool, _ view: CaseView, _ facts: Span<UInt32>
    ) -> Bool {
        let dimension = fact >> Dimension.shift
        if view.isUnknown(dimension) { return lenient }
        var place = Int(facts[Int(dimension)])
        let end = Int(facts[Int(dimension) + 1])
        while place < end {
            if facts[place] == fact { return true }
            place += 1
        }
        return false
    }

    private func holds(
        at start: Int, _ lenient: Bool, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        var place = start + 2
        for _ in 0..<words[start] {
            if !test(&place, lenient, view, words, facts) { return false }
        }
        for _ in 0..<words[start + 1] {
            if isException(at: place, !lenient, view, words, facts) { return false }
            place += 4 + Int(words[place + 3])
        }
        return true
    }

    private func isException(
        at start: Int, _ lenient: Bool, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        let quick = lenient ? view.strict : view.loose
        guard quick.meets(choices: words[start], needs: words[start + 1]) else { return false }
        var place = start + 4
        for _ in 0..<words[start + 2] {
            if !test(&place, lenient, view, words, facts) { return false }
        }
        return true
    }

    /// Whether one of the request's facts in the test's dimension is in its list or ranges.
    private func test(
        _ place: inout Int, _ lenient: Bool, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        let head = words[place]
        let dimension = head >> 1 & 0x3F
        let count = Int(head >> 8)
        let width = head & 1 == 0 ? 1 : 2
        let first = place + 1
        place = first + count * width
        if view.isUnknown(dimension) { return lenient }
        var fact = Int(facts[Int(dimension)])
        let end = Int(facts[Int(dimension) + 1])
        while fact < end {
            if Self.contains(facts[fact], first, count, width, words) { return true }
            fact += 1
        }
        return false
    }

    /// Whether a range holds the fact; they ascend and don't overlap.
    private static func contains(
        _ fact: UInt32, _ first: Int, _ count: Int, _ width: Int, _ words: Span<UInt32>
    ) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let place = first + middle * width
            if words[place + width - 1] < fact {
                low = middle + 1
            } else if words[place] > fact {
                high = middle
            } else {
                return true
            }
        }
        return false
    }
}
