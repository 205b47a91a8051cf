// SPDX-License-Identifier: Apache-2.0
internal import Terminal

/// Error messages for the user who started the program.
enum Complaint {
    static func say(_ text: String) {
        StandardStream.error.write("keychain-prompter: \(PlainText.line(text))\n")
    }
}
