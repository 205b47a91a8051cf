// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// One operation on one item while its candidates are looked through.
struct CaseView {
    let present: UInt64
    let unknown: UInt64
    /// Whether conditions on unknown facts hold, as they do for statements that restrict.
    private(set) var lenient = true
    /// The request's masks with unknown facts taken that way, and the other way.
    private(set) var masks: FactMasks
    private(set) var opposite: FactMasks
    private(set) var isMember: Bool
    let operationFact: UInt32
    let operation: PolicyOperation

    init(_ facts: borrowing AdmittedFacts, _ operation: PolicyOperation) {
        present = facts.present | 1 << UInt64(Dimension.operation)
        unknown = facts.unknown
        masks = facts.strict
        opposite = facts.loose
        masks.choices |= 1 << UInt32(operation.index)
        opposite.choices |= 1 << UInt32(operation.index)
        isMember = facts.isMember
        operationFact = Dimension.fact(operation)
        self.operation = operation
    }

    /// The view for statements that grant, where conditions on unknown facts don't hold.
    var granting: CaseView {
        var view = self
        view.lenient = false
        view.masks = opposite
        view.opposite = masks
        return view
    }

    mutating func becomeMember() {
        isMember = true
        masks.set(.member, .known(true), lenient)
        opposite.set(.member, .known(true), !lenient)
    }

    @inline(__always)
    func isUnknown(_ dimension: UInt32) -> Bool { unknown & (1 << UInt64(dimension)) != 0 }
}

/// Receives the statements that match.
protocol CandidateSink {
    /// Whether the statement could still change anything.
    func wants(_ head: EntryHead) -> Bool
    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>)
}

/// Finds the statements that match a request. All references were checked when the image was
/// loaded, and Span checks them again.
struct IndexTraversal {
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

    /// Passes on every statement that matches, some of them more than once.
    func visit<Sink: CandidateSink>(
        node: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        _ sink: inout Sink
    ) {
        let record = nodes + Int(node) * 5
        let residual = words[record + 4]
        if residual != 0 { scan(residual - 1, view, words, facts, &sink) }
        let dimensions = UInt64(words[record + 2]) | UInt64(words[record + 3]) << 32
        var known = dimensions & view.present
        while known != 0 {
            let dimension = known.trailingZeroBitCount
            known &= known &- 1
            if dimension == Dimension.operation {
                follow(view.operationFact, record, view, words, facts, &sink)
                continue
            }
            var place = Int(facts[dimension])
            let end = Int(facts[dimension + 1])
            while place < end {
                follow(facts[place], record, view, words, facts, &sink)
                place += 1
            }
        }
        if view.lenient, dimensions & view.unknown != 0 {
            visitUnknown(dimensions & view.unknown, record, view, words, facts, &sink)
        }
    }

    /// Visits the entries under the fact, if there are any.
    @inline(__always)
    private func follow<Sink: CandidateSink>(
        _ fact: UInt32, _ record: Int, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>, _ sink: inout Sink
    ) {
        let bits = words[record + 1]
        let first = slots + 2 * Int(words[record])
        let mask = 1 << Int(bits) &- 1
        var slot = IndexNode.slot(fact, bits)
        while true {
            let own = words[first + 2 * slot]
            if own == 0 { return }
            if own == fact { break }
            slot = (slot &+ 1) & mask
        }
        go(words[first + 2 * slot + 1], view, words, facts, &sink)
    }

    @inline(__always)
    private func go<Sink: CandidateSink>(
        _ target: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        _ sink: inout Sink
    ) {
        if target & IndexNode.isNode != 0 {
            visit(
                node: target & ~IndexNode.isNode, view, words, facts, &sink)
        } else {
            scan(target, view, words, facts, &sink)
        }
    }

    /// Visits all entries of a dimension whose fact is unknown, as it could be any of them.
    /// Statements that grant don't hold then.
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
            go(words[first + 2 * slot + 1], view, words, facts, &sink)
        }
    }

    @inline(__always)
    private func scan<Sink: CandidateSink>(
        _ first: UInt32, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>,
        _ sink: inout Sink
    ) {
        var entry = entries + 4 * Int(first)
        while true {
            let head = EntryHead(word: words[entry])
            if view.masks.meets(choices: words[entry + 1], needs: words[entry + 2]),
                sink.wants(head), holds(entry, head, view, words, facts)
            {
                sink.take(head, view, words, facts)
            }
            if head.isLast { return }
            entry += 4
        }
    }

    /// Checks the conditions that the entry's first words leave open.
    @inline(__always)
    private func holds(
        _ entry: Int, _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        let probe = words[entry + 3]
        if probe != 0, !has(probe, view, facts) { return false }
        if !head.hasMore { return true }
        let place = conditions + Int(words[statements + 4 * Int(head.statement) + 3])
        return holds(at: place, view, words, facts)
    }

    @inline(__always)
    private func has(_ fact: UInt32, _ view: CaseView, _ facts: Span<UInt32>) -> Bool {
        let dimension = fact >> Dimension.shift
        if view.isUnknown(dimension) { return view.lenient }
        var place = Int(facts[Int(dimension)])
        let end = Int(facts[Int(dimension) + 1])
        while place < end {
            if facts[place] == fact { return true }
            place += 1
        }
        return false
    }

    private func holds(
        at start: Int, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) -> Bool {
        var place = start + 2
        for _ in 0..<words[start] {
            if !test(&place, view.lenient, view, words, facts) { return false }
        }
        for _ in 0..<words[start + 1] {
            if isException(at: place, view, words, facts) { return false }
            place += 4 + Int(words[place + 3])
        }
        return true
    }

    /// In an exception, unknown facts count the other way.
    private func isException(
        at start: Int, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) -> Bool {
        guard view.opposite.meets(choices: words[start], needs: words[start + 1]) else {
            return false
        }
        var place = start + 4
        for _ in 0..<words[start + 2] {
            if !test(&place, !view.lenient, view, words, facts) { return false }
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

/// The format of an index's nodes.
package enum IndexNode {
    /// The most levels of nodes.
    package static let mostDepth = 4
    /// Set in a slot's target that is a node.
    package static let isNode: UInt32 = 1 << 31

    /// The fact's slot in a table of 2^`bits` slots.
    @inline(__always)
    package static func slot(_ fact: UInt32, _ bits: UInt32) -> Int {
        Int(truncatingIfNeeded: (fact &* 0x9E37_79B1) &>> (32 &- bits))
    }
}
