// SPDX-License-Identifier: Apache-2.0

/// Text that another user may have written, made safe to show on a terminal.
package enum PlainText {
    /// The text with its line ends. Control characters, invisible ones and those that change the
    /// direction of reading become `\u{…}`.
    package static func escaped(_ text: String) -> String {
        escaped(text, keepingLines: true)
    }

    /// The same, with line ends escaped too.
    package static func line(_ text: String) -> String { escaped(text, keepingLines: false) }

    /// JSON with the same meaning: in its texts, the only place for such characters, they become
    /// `\uXXXX`.
    package static func json(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHarmless(scalar) || scalar == "\n" {
                shown.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.utf8.count)
                shown.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            }
        }
        return String(shown)
    }

    private static func escaped(_ text: String, keepingLines: Bool) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHarmless(scalar) || (keepingLines && scalar == "\n") {
                shown.append(scalar)
            } else {
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        return String(shown)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
