// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Holds a demand of an image against the evidence of a request.
struct DemandReader {
    private let demands: Int
    private let trees: Int

    init(_ image: PolicyImage) {
        demands = image.start(.demands)
        trees = image.start(.trees)
    }

    func isMet(
        _ number: UInt32, _ operation: PolicyOperation, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> Bool {
        let record = demands + 4 * Int(number)
        let scope = words[record + 1]
        let within = Self.wide(record + 2, words)
        let bound =
            Freshness(rawValue: UInt8(truncatingIfNeeded: scope))
            .map { PolicyDemand.bound(operation, $0).milliseconds } ?? 0
        var place = trees + Int(words[record])
        let terms = Terms(scope: scope, within: within, bound: bound)
        return isMet(&place, terms, words, facts)
    }

    /// How fresh proofs must be.
    private struct Terms {
        let scope: UInt32
        let within: Int64
        let bound: Int64
    }

    private func isMet(
        _ place: inout Int, _ terms: Terms, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) -> Bool {
        let head = words[place]
        let value = head >> 3
        place += 1
        switch TreeKind(rawValue: head & 7) {
        case .factor:
            let methods = Self.methods(proving: value)
            return Self.hasProof(terms, terms.within, facts) { method in
                method < ProofMethod.firstService && methods & (1 << method) != 0
            }
        case .pam:
            return Self.hasProof(terms, terms.within, facts) {
                $0 == ProofMethod.firstService + value
            }
        case .pamWithin:
            let own = Self.wide(place, words)
            place += 2
            return Self.hasProof(terms, own, facts) { $0 == ProofMethod.firstService + value }
        case .any: return count(value, &place, terms, words, facts) > 0
        case .all: return count(value, &place, terms, words, facts) == value
        case .atLeast:
            let needed = words[place]
            place += 1
            return count(value, &place, terms, words, facts) >= needed
        case nil: return false
        }
    }

    /// How many of the next trees are met.
    private func count(
        _ trees: UInt32, _ place: inout Int, _ terms: Terms, _ words: Span<UInt32>,
        _ facts: Span<UInt32>
    ) -> UInt32 {
        var met: UInt32 = 0
        for _ in 0..<trees where isMet(&place, terms, words, facts) { met += 1 }
        return met
    }

    /// The factors, as bits, that prove the one of that number.
    private static func methods(proving factor: UInt32) -> UInt32 {
        switch factor {
        case 0: 0b10_1111
        case 2: 0b00_1100
        default: 1 << factor
        }
    }

    /// Whether a proof in scope is by such a method and no older than both lengths. The proofs lie
    /// behind the last dimension's facts.
    @inline(__always)
    private static func hasProof(
        _ terms: Terms, _ within: Int64, _ facts: Span<UInt32>, by method: (UInt32) -> Bool
    ) -> Bool {
        var place = Int(facts[Dimension.count])
        let end = Int(facts[AdmittedFacts.proofEnd])
        while place < end {
            if facts[place + 3] <= terms.scope, method(facts[place]),
                wide(place + 1, facts) <= min(within, terms.bound)
            {
                return true
            }
            place += AdmittedFacts.proofLength
        }
        return false
    }

    private static func wide(_ place: Int, _ words: Span<UInt32>) -> Int64 {
        Int64(bitPattern: UInt64(words[place]) | UInt64(words[place + 1]) << 32)
    }
}
