// SPDX-License-Identifier: Apache-2.0

/// The options of a command and the words behind them, read as getopt(3) of BSD reads them: the first
/// word that is no option ends them.
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
    /// What follows the options.
    private(set) var words: [String] = []

    /// `letters` has a colon behind each that takes a value, and a question mark behind each that may
    /// do without one where it is the last word.
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

    /// Without options: every word counts.
    init(words: some Sequence<String>) { self.words = Array(words) }

    /// Words that stood before the options.
    mutating func put(_ first: [String]) { words = first + words }

    /// Whether it was given, with a value or without.
    func has(_ letter: Character) -> Bool { given.contains(letter) }

    /// The last one that was given.
    subscript(letter: Character) -> String? { values[letter]?.last }

    /// All of them, in order.
    func all(_ letter: Character) -> [String] { values[letter] ?? [] }
}
