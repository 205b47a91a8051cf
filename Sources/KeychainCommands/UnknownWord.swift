// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// A command or an option that does not exist, with what may have been meant.
struct UnknownWord {
    let sentence: String

    /// The first of a line; nil where all are known.
    init?<Root: ParsableCommand>(in arguments: [String], of root: Root.Type) {
        var command: any ParsableCommand.Type = root
        var words = arguments[...]
        while let word = words.first, !command.configuration.subcommands.isEmpty {
            if let next = Self.subcommand(word, of: command) {
                command = next
                words = words.dropFirst()
                continue
            }
            guard !word.hasPrefix("-"), word != "help" else { break }
            sentence = "There is no command “\(word)”. \(Self.advice(on: word, command, root))"
            return
        }
        let known = Self.options(of: root, command)
        for word in words.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let option = String(word.prefix { $0 != "=" })
            guard !known.contains(option) else { continue }
            let meant = Self.nearest(to: option, of: known).map { " Did you mean '\($0)'?" } ?? ""
            sentence = "Unknown option '\(option)'.\(meant)"
            return
        }
        return nil
    }

    /// The nearest name beside it; else all that are beside it; at the top, where the names fill a
    /// screen, the command that has one of that name.
    private static func advice(
        on word: String, _ command: any ParsableCommand.Type, _ root: any ParsableCommand.Type
    ) -> String {
        let beside = command.configuration.subcommands.filter {
            $0.configuration.shouldDisplay
        }
        if let nearest = nearest(to: word, of: beside.flatMap(names)) {
            return "Did you mean “\(nearest)”?"
        }
        guard command == root else {
            return "There are \(beside.map { "“\(names($0)[0])”" }.joined(separator: ", "))."
        }
        for other in beside where subcommand(word, of: other) != nil {
            return "Did you mean “\(names(other)[0]) \(word)”?"
        }
        return "keychainctl --help lists them."
    }

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        let own = command.configuration
        return [own.commandName].compactMap { $0 } + own.aliases
    }

    private static func subcommand(
        _ word: String, of command: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first { names($0).contains(word) }
    }

    /// As its help has them: nothing else lists them.
    private static func options<Root: ParsableCommand>(
        of root: Root.Type, _ command: any ParsableCommand.Type
    ) -> [String] {
        let help = root.helpMessage(for: command, includeHidden: true, columns: 200)
        var options: [String] = []
        for line in help.split(separator: "\n") where line.hasPrefix("  -") {
            for word in line.split(separator: " ").prefix(while: { $0.hasPrefix("-") }) {
                options.append(String(word.prefix { $0 != "," && $0 != "[" && $0 != "=" }))
            }
        }
        return options
    }

    /// The one with the fewest letters to change; nil where that would be most of them.
    static func nearest(to word: String, of names: [String]) -> String? {
        let ranked = names.map { (name: $0, distance: distance(word, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        let letters = best.name.drop { $0 == "-" }.count
        return best.distance <= max(1, min(4, letters / 2)) ? best.name : nil
    }

    /// Letters that are changed, left out, put in, or exchanged with their neighbours.
    static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var earlier: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, earlier[j - 1] + 1)
                }
                row.append(best)
            }
            (earlier, last) = (last, row)
        }
        return last[b.count]
    }
}
