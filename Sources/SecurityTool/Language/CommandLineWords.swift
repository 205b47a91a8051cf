// SPDX-License-Identifier: Apache-2.0

/// A line of the interactive mode as words: bare, in double or single quotes, with backslashes.
enum CommandLineWords {
    /// nil where a quote is not closed.
    static func of(_ line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open {
                    quote = nil
                } else {
                    word = (word ?? "") + String(character)
                }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let ended = word { words.append(ended) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        return words + (word.map { [$0] } ?? [])
    }

    /// The words with dots for the values of some options, and for an item's data.
    static func hiding(_ words: [String], behind letters: String) -> [String] {
        var shown: [String] = []
        var hidesNext = false
        for word in words {
            if hidesNext {
                shown.append("…")
                hidesNext = false
            } else if word.hasPrefix("-"), let place = word.firstIndex(where: letters.contains) {
                let end = word.index(after: place)
                hidesNext = end == word.endIndex
                shown.append(hidesNext ? word : word[..<end] + "…")
            } else if let data = word.firstRange(of: "v_Data=") {
                shown.append(word[..<data.upperBound] + "…")
            } else {
                shown.append(word)
            }
        }
        return shown
    }

    /// The words quoted, so that `of` reads them again.
    static func quoted(_ words: some Sequence<String>) -> String {
        words.map { word in
            "\"" + word.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
        }.joined(separator: " ")
    }
}
