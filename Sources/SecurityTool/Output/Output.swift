// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Terminal

/// What the commands write.
struct Output {
    /// Whether `-q` was given: no diagnostics.
    var isQuiet = false

    func write(_ text: String) { StandardStream.output.write(text) }

    func write(line secret: borrowing SecretBytes, to stream: StandardStream = .output) {
        stream.release(secret)
        stream.write("\n")
    }

    /// A result that belongs on standard error.
    func tell(_ text: String) { StandardStream.error.write(text) }

    /// A diagnostic.
    func complain(_ text: String) {
        if !isQuiet, !text.isEmpty { StandardStream.error.write(text) }
    }
}
