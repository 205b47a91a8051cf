// SPDX-License-Identifier: Apache-2.0
internal import KeychainStatusCodes

/// `error`: the meaning of statuses.
enum ErrorCommand {
    static let command = Command(
        "error", "code...", "Show what error codes mean; the exit status is always 1.", letters: nil
    ) { options, session throws(CommandFailure) in
        guard !options.words.isEmpty else { throw .usage }
        for word in options.words { session.output.write(line(word)) }
        // Scripts expect this exit status.
        throw .said("", exit: 1)
    }

    /// A text that is no number counts as 0, as in strtol(3).
    static func line(_ word: String) -> String {
        let code = number(word)
        let digits = String(UInt32(bitPattern: code), radix: 16, uppercase: true)
        let zeros = String(repeating: "0", count: 8 - digits.utf8.count)
        return "Error: 0x\(zeros)\(digits) \(code) \(StatusMessages.text(for: code))\n"
    }

    private static func number(_ word: String) -> Int32 {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative ? word.dropFirst() : word[...]
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        let value =
            isHexadecimal ? Int64(digits.dropFirst(2), radix: 16) : Int64(digits)
        return Int32(truncatingIfNeeded: isNegative ? -(value ?? 0) : value ?? 0)
    }
}
