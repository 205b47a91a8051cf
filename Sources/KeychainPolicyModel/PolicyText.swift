// SPDX-License-Identifier: Apache-2.0

/// A text of a policy or of a fact, compared by its bytes in UTF-8: `==` on String treats two
/// spellings of one letter as equal.
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
    /// The text, or its first `longest` bytes at most with “…” after them.
    public func cut(to longest: Int) -> String {
        guard string.utf8.count > longest else { return string }
        var end = string.utf8.index(string.utf8.startIndex, offsetBy: longest)
        // A character of several bytes must not be cut.
        while end > string.startIndex, end.samePosition(in: string.unicodeScalars) == nil {
            end = string.utf8.index(before: end)
        }
        return string[..<end] + "…"
    }
}

extension PolicyText {
    /// The text for a line that people read, beside other texts: quoted unless it is plain, since
    /// it could look like the line's own words, or like several texts or lines.
    package var shown: String { isPlain ? string : JSONText(string).description }

    /// Whether it has only letters, digits and signs of names and paths, and is no word that lines
    /// about requests use.
    package var isPlain: Bool {
        !string.isEmpty && string.unicodeScalars.allSatisfy(Self.isPlain)
            && !Self.ownWords.contains(string)
    }

    private static let ownWords: Set<String> = [
        "and", "any", "but", "none", "not", "or", "unknown",
    ]

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "/", "@", ":", "*", "-": true
        default: false
        }
    }
}

extension PolicyText: CustomStringConvertible {
    public var description: String { string }
}
