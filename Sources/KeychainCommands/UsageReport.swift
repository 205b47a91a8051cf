// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import Terminal

/// What the argument parser has to say: help where it was asked for, else what was wrong.
enum UsageReport {
    static func show<Root: ParsableCommand>(_ error: any Error, of root: Root.Type) -> Int32 {
        let text = root.fullMessage(for: error)
        guard root.exitCode(for: error) != .success else {
            StandardStream.output.write(text + "\n")
            return ResultCode.done.rawValue
        }
        let prefix = "Error: "
        let words = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        // The message may quote what was typed.
        StandardStream.error.write("keychainctl: \(PlainText.escaped(words))\n")
        return ResultCode.usage.rawValue
    }
}
