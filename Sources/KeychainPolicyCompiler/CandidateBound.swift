// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// The most candidates that a request can meet below a node, given those below each fact. Numbers,
/// choices and texts have one value a request, so one fact of a dimension counts; but a text can
/// match several patterns, and a program can be in several groups.
struct CandidateBound {
    static let mostGroups = 64
    private let symbols: SymbolTable
    private var ranks: [UInt32: SymbolTable.Rank]?

    init(_ symbols: SymbolTable) { self.symbols = symbols }

    mutating func bound(_ parts: [(fact: UInt32, bound: Int)]) -> Int {
        Dictionary(grouping: parts) { Dimension.of(fact: $0.fact) }
            .map { bound($0, $1) }.reduce(0, +)
    }

    private mutating func bound(
        _ dimension: Int, _ parts: [(fact: UInt32, bound: Int)]
    ) -> Int {
        let single: Int
        if dimension < TextField.allCases.count {
            single = textBound(parts)
        } else {
            single = parts.map(\.bound).max() ?? 0
        }
        guard dimension == Dimension.of(.group) else { return single }
        return min(parts.reduce(0) { $0 + $1.bound }, single * Self.mostGroups)
    }

    /// The heaviest literal or prefix together with all prefixes of it, and the heaviest suffix
    /// together with all suffixes of it.
    private mutating func textBound(_ parts: [(fact: UInt32, bound: Int)]) -> Int {
        let ranks = self.ranks ?? symbols.ranks()
        self.ranks = ranks
        let ranked = parts.compactMap { part in ranks[part.fact].map { ($0, part.bound) } }
        return [false, true].map { fromEnd in
            Self.heaviestChain(ranked.filter { $0.0.isSuffix == fromEnd })
        }.reduce(0, +)
    }

    /// In sorted order a text directly follows its prefixes.
    private static func heaviestChain(_ parts: [(SymbolTable.Rank, Int)]) -> Int {
        var chain: [(rank: SymbolTable.Rank, bound: Int)] = []
        var heaviest = 0
        for (rank, bound) in parts.sorted(by: { $0.0.place < $1.0.place }) {
            while let last = chain.last, last.rank.end <= rank.place { chain.removeLast() }
            let sum = (chain.last?.bound ?? 0) + bound
            heaviest = max(heaviest, sum)
            chain.append((rank, sum))
        }
        return heaviest
    }
}
