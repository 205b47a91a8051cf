// SPDX-License-Identifier: Apache-2.0

/// A subset of the tests' cases, by their numbers.
struct CaseSet: Equatable {
    private var words: [UInt64]

    /// The empty subset of `count` cases.
    init(of count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

    mutating func insert(_ number: Int) { words[number / 64] |= 1 << UInt64(number % 64) }

    func contains(_ number: Int) -> Bool { words[number / 64] & 1 << UInt64(number % 64) != 0 }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    static func & (a: Self, b: Self) -> Self { a.combined(b) { $0 & $1 } }
    static func | (a: Self, b: Self) -> Self { a.combined(b) { $0 | $1 } }
    static func ^ (a: Self, b: Self) -> Self { a.combined(b) { $0 ^ $1 } }
    static func - (a: Self, b: Self) -> Self { a.combined(b) { $0 & ~$1 } }

    private func combined(_ other: Self, _ join: (UInt64, UInt64) -> UInt64) -> Self {
        var both = self
        for place in words.indices { both.words[place] = join(words[place], other.words[place]) }
        return both
    }
}

extension CaseSet: Sequence {
    /// Ascending.
    struct Iterator: IteratorProtocol {
        fileprivate let words: [UInt64]
        private var place = -1
        private var left: UInt64 = 0

        fileprivate init(_ words: [UInt64]) { self.words = words }

        mutating func next() -> Int? {
            while left == 0 {
                place += 1
                guard place < words.count else { return nil }
                left = words[place]
            }
            defer { left &= left - 1 }
            return place * 64 + left.trailingZeroBitCount
        }
    }

    func makeIterator() -> Iterator { Iterator(words) }
}
