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

extension PolicyText {
    /// The text as it stands among others in a line for people: quoted unless it is plain, for it may
    /// be called like what the line says itself, or like several texts or lines.
    package var shown: String { isPlain ? string : JSONText(string).description }

    /// Letters, digits and signs of names and paths, and no word that lines about requests have.
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
