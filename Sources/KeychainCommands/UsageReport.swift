// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import Terminal

/// What the argument parser has to say: help where it was asked for, else what was wrong.
enum UsageReport {
    /// `running`: the command that threw it, where the arguments had been read.
    static func show<Root: ParsableCommand>(
        _ error: any Error, of root: Root.Type, running: (any ParsableCommand.Type)?,
        arguments: [String]
    ) -> Int32 {
        let text = text(error, root, running)
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

    /// The parser gives what a command throws while it runs the usage of the root.
    private static func text<Root: ParsableCommand>(
        _ error: any Error, _ root: Root.Type, _ running: (any ParsableCommand.Type)?
    ) -> String {
        guard let wrong = error as? ValidationError, let running,
            let path = path(to: running, from: root)
        else { return root.fullMessage(for: error) }
        return """
            \(wrong.message)
            Usage: \(root.usageString(for: running))
              See '\(path.joined(separator: " ")) --help' for more information.
            """
    }

    private static func path(
        to command: any ParsableCommand.Type, from root: any ParsableCommand.Type
    ) -> [String]? {
        let name = root.configuration.commandName ?? ""
        if root == command { return [name] }
        for next in root.configuration.subcommands {
            if let rest = path(to: command, from: next) { return [name] + rest }
        }
        return nil
    }
}
