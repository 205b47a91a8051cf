// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Terminal

/// What the commands write.
struct Output {
    /// Whether `-q` was given: no diagnostics.
    var isQuiet = false
    /// All results so far were taken by what reads them.
    private(set) var isWhole = true

    mutating func write(_ text: String) {
        if !StandardStream.output.write(text) { isWhole = false }
    }

    mutating func write(line secret: borrowing SecretBytes, to stream: StandardStream = .output) {
        if !stream.release(secret) || !stream.write("\n") { isWhole = false }
    }

    /// A result that belongs on standard error.
    mutating func tell(_ text: String) {
        if !StandardStream.error.write(text) { isWhole = false }
    }

    /// A diagnostic.
    func complain(_ text: String) {
        if !isQuiet, !text.isEmpty { StandardStream.error.write(text) }
    }
}
