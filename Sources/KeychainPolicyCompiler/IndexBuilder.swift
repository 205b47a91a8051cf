// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// A statement in the form that the index stores.
struct IndexedStatement {
    let head: EntryHead
    package let kind: StatementKind
    let match: CompiledMatch
}

/// Files statements under facts that a request must have to match them. At each node a statement
/// goes under the one of its conditions whose commonest fact is rarest among the node's statements;
/// groups that stay large are split again. A wrong choice costs time and never a decision: the
/// condition is the statement's own, so a request that matches it has one of its facts.
struct IndexBuilder {
    /// A group of this size is searched one by one.
    static let leafSize = 8
    /// Below the root a condition with more facts than this is no key, and all entries together
    /// have a bound: filing under two long lists multiplies.
    static let mostFactsBelowRoot = 16

    private(set) var entries: [UInt32] = []
    private(set) var nodes: [UInt32] = []
    private(set) var slots: [UInt32] = []
    private var certificate: CandidateBound
    private var statements: [IndexedStatement] = []
    private var entryBudget: Int

    /// A statement on its way down the tree, with the keys it was filed under.
    private struct Item {
        let statement: Int
        var used: [Int] = []
    }

    init(_ symbols: SymbolTable, statements: Int) {
        certificate = CandidateBound(symbols)
        entryBudget = 65_536 + 32 * statements
    }

    /// Builds an index; returns its root node and the most candidates that a request can meet.
    mutating func addRoot(
        _ statements: [IndexedStatement]
    ) -> (node: UInt32, mostCandidates: Int) {
        self.statements = statements
        return addNode(statements.indices.map { Item(statement: $0) }, depth: 0)
    }

    private mutating func addNode(
        _ items: [Item], depth: Int
    ) -> (node: UInt32, mostCandidates: Int) {
        let number = nodes.count / PolicyImage.Section.nodes.stride
        nodes += [0, 0, 0, 0, 0]
        var groups: [UInt32: [Item]] = [:]
        var rest: [Item] = []
        file(items, depth, &groups, &rest)
        let residual = rest.isEmpty ? 0 : addLeaf(rest) + 1
        var targets: [(fact: UInt32, target: UInt32, bound: Int)] = []
        for (fact, group) in groups.sorted(by: { $0.key < $1.key }) {
            let (target, bound) = addTarget(group, depth: depth + 1)
            targets.append((fact, target, bound))
        }
        let first = slots.count / 2
        let bits = addSlots(targets)
        let dimensions = targets.reduce(into: UInt64(0)) { $0 |= 1 << UInt64($1.fact >> 26) }
        let record =
            [UInt32(first), bits] + PolicyImage.halves(dimensions) + [UInt32(residual)]
        let place = number * record.count
        nodes.replaceSubrange(place..<place + record.count, with: record)
        return (UInt32(number), rest.count + certificate.bound(targets.map { ($0.fact, $0.bound) }))
    }

    private mutating func addTarget(
        _ group: [Item], depth: Int
    ) -> (target: UInt32, mostCandidates: Int) {
        let splits = group.count > Self.leafSize && depth < IndexNode.mostDepth && entryBudget > 0
        guard splits else { return (UInt32(addLeaf(group)), group.count) }
        let (node, bound) = addNode(group, depth: depth)
        return (node | IndexNode.isNode, bound)
    }

    /// Puts each item under the facts of its best key, or into `rest`.
    private mutating func file(
        _ items: [Item], _ depth: Int, _ groups: inout [UInt32: [Item]], _ rest: inout [Item]
    ) {
        var counts: [UInt32: Int] = [:]
        for item in items {
            for (_, key) in keys(of: item, depth) {
                for fact in key.facts { counts[fact, default: 0] += 1 }
            }
        }
        let choices = items.map { item in
            keys(of: item, depth).map { number, key in
                (number, key, key.facts.reduce(0) { max($0, counts[$1, default: 0]) })
            }.min { ($0.2, $0.1.facts.count, $0.0) < ($1.2, $1.1.facts.count, $1.0) }
        }
        var filings: [Int: Int] = [:]
        for (_, key, _) in choices.compactMap(\.self) {
            filings[key.dimension, default: 0] += key.facts.count
        }
        for (item, choice) in zip(items, choices) {
            guard let (number, key, _) = choice,
                filings[key.dimension, default: 0] > Self.fewest(key.dimension)
            else {
                rest.append(item)
                continue
            }
            entryBudget -= key.facts.count - 1
            let filed = Item(statement: item.statement, used: item.used + [number])
            for fact in key.facts { groups[fact, default: []].append(filed) }
        }
    }

    /// Groups of at most this size are searched faster than a request's facts in the dimension are
    /// looked up; a request has many groups.
    private static func fewest(_ dimension: Int) -> Int {
        dimension == Dimension.of(.group) ? 2 * leafSize : leafSize
    }

    private func keys(of item: Item, _ depth: Int) -> [(Int, CompiledBox.Key)] {
        statements[item.statement].match.box.keys.enumerated().filter { number, key in
            !item.used.contains(number)
                && (depth == 0 || key.facts.count <= Self.mostFactsBelowRoot)
        }.map { ($0.offset, $0.element) }
    }

    /// Writes entries one after the other, the last one marked; returns the first one's number.
    private mutating func addLeaf(_ items: [Item]) -> Int {
        let first = entries.count / 4
        let sorted = items.sorted {
            let (a, b) = (statements[$0.statement], statements[$1.statement])
            return (a.kind.rawValue, a.head.statement) < (b.kind.rawValue, b.head.statement)
        }
        for (place, item) in sorted.enumerated() {
            entries += entry(item, isLast: place == sorted.count - 1)
        }
        return first
    }

    private func entry(_ item: Item, isLast: Bool) -> [UInt32] {
        let statement = statements[item.statement]
        let box = statement.match.box
        let told = item.used.compactMap { box.keys[$0].test }
        let untold = box.tests.indices.filter { !told.contains($0) }
        let probe = untold.first { box.tests[$0].onlyFact != nil }
        let isTold = statement.match.exceptions.isEmpty && untold.allSatisfy { $0 == probe }
        var head = statement.head.word
        if isLast { head |= EntryHead.isLast }
        if !isTold { head |= EntryHead.hasMore }
        let fact = probe.flatMap { box.tests[$0].onlyFact } ?? 0
        return [head, box.masks.choices, box.masks.needs, fact]
    }

    /// Writes a hash table of the targets, at most half full; returns the number of bits in a
    /// slot's number.
    private mutating func addSlots(
        _ targets: [(fact: UInt32, target: UInt32, bound: Int)]
    ) -> UInt32 {
        guard !targets.isEmpty else { return 0 }
        var bits: UInt32 = 1
        while 1 << bits < 2 * targets.count { bits += 1 }
        var table = [UInt32](repeating: 0, count: 2 << bits)
        for (fact, target, _) in targets {
            var slot = IndexNode.slot(fact, bits)
            while table[2 * slot] != 0 { slot = (slot + 1) & (1 << Int(bits) - 1) }
            table[2 * slot] = fact
            table[2 * slot + 1] = target
        }
        slots += table
        return bits
    }
}
