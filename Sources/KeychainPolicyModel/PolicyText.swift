// SPDX-License-Identifier: Apache-2.0

/// Text of a policy or of a fact. It compares by the bytes of its UTF-8: `==` on String would take
/// two spellings of one letter for the same.
public struct PolicyText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    public let string: String

    public init(_ string: String) { self.string = string }
    public init(stringLiteral value: String) { string = value }

    public static func == (a: Self, b: Self) -> Bool {
        a.string.utf8.elementsEqual(b.string.utf8)
    }
    public static func < (a: Self, b: Self) -> Bool {
        a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
    }
    public func hash(into hasher: inout Hasher) {
        var word: UInt64 = 0
        var count = 0
        for byte in string.utf8 {
            word = word << 8 | UInt64(byte)
            count += 1
            if count % 8 == 0 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(count)
    }
}

extension PolicyText {
    /// The text, or as many bytes of its beginning with “…” behind them.
    public func cut(to longest: Int) -> String {
        guard string.utf8.count > longest else { return string }
        var end = string.utf8.index(string.utf8.startIndex, offsetBy: longest)
        // Not within a character of several bytes.
        while end > string.startIndex, end.samePosition(in: string.unicodeScalars) == nil {
            end = string.utf8.index(before: end)
        }
        return string[..<end] + "…"
    }
}

extension PolicyText: CustomStringConvertible {
    public var description: String { string }
}
