// SPDX-License-Identifier: Apache-2.0
internal import Terminal

/// Text as a parameter of an Assuan command.
enum AssuanText {
    /// The most bytes of a line with its end; libassuan accepts no more.
    static let longestLine = 1000
    private static let ellipsis = "…"

    /// The command with the text, cut where it does not fit. The text can't end the line, and
    /// characters that could deceive its reader are escaped.
    static func line(_ command: String, _ text: String) -> String {
        let room = longestLine - command.utf8.count - 2
        var encoded = ""
        var length = 0
        var fitting = 0
        for scalar in PlainText.escaped(text).unicodeScalars {
            let piece = encode(scalar)
            if length + ellipsis.utf8.count <= room { fitting = length }
            length += piece.utf8.count
            guard length <= room else {
                return command + " " + String(prefix(encoded, bytes: fitting)) + ellipsis
            }
            encoded += piece
        }
        return command + " " + encoded
    }

    private static func encode(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "%": "%25"
        case "\n": "%0A"
        default: String(scalar)
        }
    }

    private static func prefix(_ text: String, bytes: Int) -> Substring {
        let end = text.utf8.index(text.startIndex, offsetBy: bytes)
        return text[..<end]
    }
}
