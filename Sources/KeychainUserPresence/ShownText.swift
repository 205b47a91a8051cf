// SPDX-License-Identifier: Apache-2.0

/// Text from another program, made safe to show: one line, no control or direction characters, of
/// limited length.
package enum ShownText {
    static func quoted(_ text: String, longest: Int) -> String {
        "“" + cleaned(text, longest: longest) + "”"
    }

    package static func cleaned(_ text: String, longest: Int) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(longest) {
            shown.append(isPlain(scalar) ? String(scalar) : escaped(scalar))
        }
        return text.unicodeScalars.count > longest ? shown + "…" : shown
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        "\\u{" + String(scalar.value, radix: 16) + "}"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
