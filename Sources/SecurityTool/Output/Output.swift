// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Terminal

/// The output of the commands.
struct Output {
    /// Whether `-q` was given: no diagnostics.
    var isQuiet = false
    /// Whether the reader has taken all results so far.
    private(set) var isWhole = true

    mutating func write(_ text: String) {
        if !StandardStream.output.write(text) { isWhole = false }
    }

    mutating func write(line secret: borrowing SecretBytes, to stream: StandardStream = .output) {
        if !stream.release(secret) || !stream.write("\n") { isWhole = false }
    }

    /// Writes a result that belongs on standard error.
    mutating func tell(_ text: String) {
        if !StandardStream.error.write(text) { isWhole = false }
    }

    /// Writes a diagnostic.
    func complain(_ text: String) {
        if !isQuiet, !text.isEmpty { StandardStream.error.write(text) }
    }
}
