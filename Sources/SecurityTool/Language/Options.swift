// SPDX-License-Identifier: Apache-2.0

/// The options of a command and the words after them, read as BSD's getopt(3) does: the first word
/// that is no option ends them.
struct Options {
    enum Mistake: Error, Equatable {
        case unknown(Character)
        case valueMissing(Character)

        var sentence: String {
            switch self {
            case .unknown(let letter): "illegal option -- \(letter)"
            case .valueMissing(let letter): "option requires an argument -- \(letter)"
            }
        }
    }

    private var values: [Character: [String]] = [:]
    private var given: Set<Character> = []
    /// The words after the options.
    private(set) var words: [String] = []

    /// `letters` has a colon after each letter that takes a value, and a question mark after each
    /// whose value may be missing where it is the last word.
    init(_ arguments: some Collection<String>, letters: String) throws(Mistake) {
        var rest = Array(arguments)[...]
        while let word = rest.first, word.hasPrefix("-"), word != "-" {
            rest.removeFirst()
            if word == "--" { break }
            var cluster = word.dropFirst()
            while let letter = cluster.popFirst() {
                guard let kind = Self.kind(of: letter, in: letters) else {
                    throw .unknown(letter)
                }
                given.insert(letter)
                guard kind != .flag else { continue }
                if !cluster.isEmpty {
                    values[letter, default: []].append(String(cluster))
                } else if let value = rest.popFirst() {
                    values[letter, default: []].append(value)
                } else if kind == .value {
                    throw .valueMissing(letter)
                }
                break
            }
        }
        words = Array(rest)
    }

    private enum Kind { case flag, value, valueOrLast }

    private static func kind(of letter: Character, in letters: String) -> Kind? {
        guard letter != ":", letter != "?", let place = letters.firstIndex(of: letter) else {
            return nil
        }
        let next = letters.index(after: place)
        guard next < letters.endIndex else { return .flag }
        switch letters[next] {
        case ":": return .value
        case "?": return .valueOrLast
        default: return .flag
        }
    }

    /// Without options: all words are kept.
    init(words: some Sequence<String>) { self.words = Array(words) }

    /// Puts back words that stood before the options.
    mutating func put(_ first: [String]) { words = first + words }

    /// Whether the option was given, with a value or without.
    func has(_ letter: Character) -> Bool { given.contains(letter) }

    /// The last value that was given.
    subscript(letter: Character) -> String? { values[letter]?.last }

    /// All values, in order.
    func all(_ letter: Character) -> [String] { values[letter] ?? [] }
}
