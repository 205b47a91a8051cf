// SPDX-License-Identifier: Apache-2.0

/// Guesses the word that the author of an unknown word meant.
package enum Suggestion {
    /// Longer words are not compared.
    private static let longest = 40

    /// `did you mean "exe"?`, or other advice: the way to say it here, or the known words where
    /// they are few. `what` is the word's kind: a `key`, or a value such as a `constraint`.
    package static func advice(
        for word: String, _ what: String = "", among known: [String]
    ) -> String? {
        if let same = same(as: word, among: known) { return asked(same) }
        // YAML reads {user:ann} as one word.
        if let colon = word.firstIndex(of: ":"), known.contains(String(word[..<colon])) {
            let rest = word[word.index(after: colon)...]
            return "write \(word[..<colon]): \(rest), with a space behind the colon"
        }
        if let said = spellings(of: word).lazy.compactMap({ ForeignWords.said[what]?[$0] }).first {
            return said
        }
        if let near = nearest(to: word, among: known) { return asked(near) }
        guard known.count <= 16, !known.isEmpty else { return nil }
        return "one of: " + known.joined(separator: ", ")
    }

    /// The known word in another spelling, or in another system's term.
    package static func same(as word: String, among known: [String]) -> String? {
        let spellings = spellings(of: word)
        return spellings.first(where: known.contains)
            ?? spellings.lazy.compactMap { ForeignWords.ours[$0]?.first(where: known.contains) }
            .first
    }

    private static func asked(_ word: String) -> String { "did you mean \"\(word)\"?" }

    /// Apple's names begin with one of these; the longer ones first.
    private static let prefixes = [
        "kSecAttrAccessible", "kSecAttr", "kSecClass", "kSec", "SecItem", "SecKey",
    ]

    /// The word in this language's spelling, in small letters with dashes:
    /// `kSecClassGenericPassword` becomes `generic-password`.
    private static func spellings(of word: String) -> [String] {
        guard word.utf8.count <= longest * 2 else { return [] }
        return prefixes.filter { word.hasPrefix($0) && word != $0 }
            .map { dashed(word.dropFirst($0.count)) } + [dashed(word[...]), word.lowercased()]
    }

    private static func dashed(_ word: Substring) -> String {
        var (text, wasSmall) = ("", false)
        for letter in word {
            if wasSmall, letter.isUppercase { text += "-" }
            text += letter == "_" || letter == " " ? "-" : letter.lowercased()
            wasSmall = letter.isLowercase
        }
        return text
    }

    package static func nearest(to word: String, among known: [String]) -> String? {
        let written = Array(word.lowercased().utf8)
        guard written.count <= longest else { return nil }
        let allowed = max(1, written.count / 3)
        let ranked = known.map { (word: $0, distance: distance(written, Array($0.utf8))) }
            .filter { $0.distance <= allowed }
        if let best = ranked.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) {
            return best.word
        }
        let longer = known.filter { written.count >= 3 && $0.utf8.starts(with: written) }
        return longer.count == 1 ? longer.first : nil
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between the two.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard b.count <= longest else { return longest }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for (i, first) in a.enumerated() {
            var row = [i + 1]
            for (j, second) in b.enumerated() {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (first == second ? 0 : 1))
                if i > 0, j > 0, first == b[j - 1], a[i - 1] == second {
                    best = min(best, beforeLast[j - 1] + 1)
                }
                row.append(best)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
