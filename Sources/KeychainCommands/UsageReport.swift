// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import Terminal

/// What the argument parser has to say: help where it was asked for, else what was wrong.
enum UsageReport {
    static func show<Root: ParsableCommand>(
        _ error: any Error, of root: Root.Type, arguments: [String]
    ) -> Int32 {
        let text = root.fullMessage(for: error)
        guard root.exitCode(for: error) != .success else {
            StandardStream.output.write(text + "\n")
            return ResultCode.done.rawValue
        }
        let prefix = "Error: "
        var words = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        // A word that is not known is the reason for what else is wrong, which a command may have
        // seen first.
        if let unknown = UnknownWord(in: arguments, of: root) {
            let usage = words.split(separator: "\n").drop { !$0.hasPrefix("Usage: ") }
            words = ([unknown.sentence] + usage.map(String.init)).joined(separator: "\n")
        }
        // The message may quote what was typed.
        StandardStream.error.write("keychainctl: \(PlainText.escaped(words))\n")
        return ResultCode.usage.rawValue
    }
}
