// SPDX-License-Identifier: Apache-2.0

/// A mistake in a file of PAM's.
package struct PAMMistake: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case unknownKind(String)
        case unknownControl(String)
        case openBracket
        case noModule
        case missingFile(String)
        case unreadable(String)
        case tooDeep
        case tooLong
    }
    package let kind: Kind
    package let place: PAMPlace
}

/// The lines of one file, by the rules of pam.conf(5). Mistakes are reported and left out.
struct PAMReader {
    enum Entry {
        case line(PAMLine)
        /// `@include`: the lines of all kinds from another file.
        case includeAll(String, PAMPlace)
    }

    private(set) var entries: [Entry] = []
    private(set) var mistakes: [PAMMistake] = []
    private let file: String

    init(_ text: String, file: String) {
        self.file = file
        var number = 0
        var began = 1
        var joined = ""
        // Split by scalars, since a carriage return and a line feed are one character.
        for physical in text.unicodeScalars.split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            number += 1
            var line = String(physical)
            if joined.isEmpty { began = number }
            if line.hasSuffix("\\") {
                line.removeLast()
                joined += line + " "
                continue
            }
            read(joined + line, PAMPlace(file: file, line: began))
            joined = ""
        }
        if !joined.isEmpty { read(joined, PAMPlace(file: file, line: began)) }
    }

    private mutating func read(_ line: String, _ place: PAMPlace) {
        guard var words = Self.words(line)?[...] else {
            return note(.openBracket, place)
        }
        guard let first = words.popFirst() else { return }
        if first.text == "@include" {
            guard let name = words.first?.text else { return note(.noModule, place) }
            return entries.append(.includeAll(name, place))
        }
        let silent = first.text.hasPrefix("-")
        let kindWord = silent ? String(first.text.dropFirst()) : first.text
        guard let kind = PAMLine.Kind(rawValue: kindWord.lowercased()) else {
            return note(.unknownKind(first.text), place)
        }
        guard let controlWord = words.popFirst() else { return note(.noModule, place) }
        guard let control = Self.control(controlWord) else {
            return note(.unknownControl(controlWord.text), place)
        }
        guard let module = words.popFirst() else { return note(.noModule, place) }
        entries.append(
            .line(
                PAMLine(
                    kind: kind, control: control, module: module.text,
                    arguments: words.map(\.text), place: place)))
    }

    private mutating func note(_ kind: PAMMistake.Kind, _ place: PAMPlace) {
        mistakes.append(PAMMistake(kind: kind, place: place))
    }

    private struct Word {
        let text: String
        let isBracketed: Bool
    }

    /// nil where a bracket is not closed. Comments end a line; within brackets `\]` is a `]`.
    private static func words(_ line: String) -> [Word]? {
        var words: [Word] = []
        var rest = line.unicodeScalars[...]
        while true {
            rest = rest.drop { $0.properties.isWhitespace }
            guard let first = rest.first, first != "#" else { return words }
            if first != "[" {
                let word = rest.prefix { !$0.properties.isWhitespace }
                words.append(Word(text: String(word), isBracketed: false))
                rest = rest.dropFirst(word.count)
                continue
            }
            rest = rest.dropFirst()
            var text = String.UnicodeScalarView()
            var isClosed = false
            while let scalar = rest.popFirst() {
                if scalar == "]" {
                    isClosed = true
                    break
                }
                let isEscaped = scalar == "\\" && rest.first == "]"
                text.append(isEscaped ? rest.removeFirst() : scalar)
            }
            guard isClosed else { return nil }
            words.append(Word(text: String(text), isBracketed: true))
        }
    }

    private static func control(_ word: Word) -> PAMControl? {
        guard word.isBracketed else {
            switch word.text.lowercased() {
            case "required": return .required
            case "requisite": return .requisite
            case "sufficient": return .sufficient
            case "optional": return .optional
            case "include": return .include
            case "substack": return .substack
            default: return nil
            }
        }
        var actions: [String: PAMAction] = [:]
        for pair in word.text.split(whereSeparator: \.isWhitespace) {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, let action = PAMAction(parts[1]) else {
                return nil
            }
            actions[parts[0].lowercased()] = action
        }
        return .actions(actions)
    }
}
