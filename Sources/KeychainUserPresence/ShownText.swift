// SPDX-License-Identifier: Apache-2.0

/// Text from another program, made safe to show: one line, no control or direction characters, no
/// quotation mark that could seem to end it, no pile of marks over the line above, of limited length.
package enum ShownText {
    /// As many as a letter of any script has above and below it.
    private static let mostMarks = 3

    static func quoted(_ text: String, longest: Int) -> String {
        "“" + cleaned(text, longest: longest) + "”"
    }

    package static func cleaned(_ text: String, longest: Int) -> String {
        var shown = ""
        var length = 0
        // A mark at the beginning would change the sign before it.
        var marks = mostMarks
        for scalar in text.unicodeScalars {
            let isMark = Self.isMark(scalar)
            let isShown = isPlain(scalar) && (!isMark || marks < mostMarks)
            marks = isMark && isShown ? marks + 1 : isMark ? marks : 0
            let more = isShown ? String(scalar) : escaped(scalar)
            length += more.unicodeScalars.count
            guard length <= longest else { return shown + "…" }
            shown += more
        }
        return shown
    }

    /// Of text that is clean: several names of programs, each of limited length.
    static func cut(_ text: String, longest: Int) -> String {
        text.unicodeScalars.count > longest
            ? String(text.unicodeScalars.prefix(longest)) + "… and more" : text
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        "\\u{" + String(scalar.value, radix: 16) + "}"
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: false
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        // Those that look like the marks of `quoted`.
        if "“”„‟\"″‶〝〞〟＂❝❞".unicodeScalars.contains(scalar) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
