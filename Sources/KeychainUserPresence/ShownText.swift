// SPDX-License-Identifier: Apache-2.0

/// Text from another program, made safe to show: one line of limited length, without control or
/// direction characters, without a quotation mark that could seem to end it, and without a pile of
/// marks that covers the line above.
package enum ShownText {
    /// The number of marks that a letter of any script has above and below it.
    private static let mostMarks = 3
    private static let longestPath = 80
    /// How much of a longer path is its beginning; the rest is its end, with the file's name.
    private static let beginningOfPath = 24
    /// Characters that look like the marks of `quoted`.
    private static let quotationMarks = "“”„‟\"″‶〝〞〟＂❝❞ʺˮ˝〃🙶🙷🙸\u{5F4}".unicodeScalars
    /// Characters of which two in a row look like one of `quotationMarks`.
    private static let apostrophes = "'’‘‚‛′‵`´ʹʻʼʽˈ＇❛❜\u{5F3}".unicodeScalars

    static func quoted(_ text: String, longest: Int) -> String {
        "“" + cleaned(text, longest: longest) + "”"
    }

    /// A path in quotes: unquoted, a file's name could read like the keychain's own words.
    package static func quotedPath(_ path: String) -> String {
        let shown = cleaned(path, longest: .max)
        let scalars = shown.unicodeScalars
        guard scalars.count > longestPath else { return "“" + shown + "”" }
        let end = scalars.suffix(longestPath - beginningOfPath - 1)
        return "“" + String(scalars.prefix(beginningOfPath)) + "…" + String(end) + "”"
    }

    package static func cleaned(_ text: String, longest: Int) -> String {
        var shown = ""
        var length = 0
        // A mark at the beginning would combine with the character before it.
        var marks = mostMarks
        var isAfterApostrophe = false
        for scalar in text.unicodeScalars {
            let isMark = Self.isMark(scalar)
            let isApostrophe = apostrophes.contains(scalar)
            let isShown =
                isPlain(scalar) && (!isMark || marks < mostMarks)
                && !(isApostrophe && isAfterApostrophe)
            marks = isMark && isShown ? marks + 1 : isMark ? marks : 0
            // A mark between the two may be invisible.
            if !isMark { isAfterApostrophe = isApostrophe }
            let more = isShown ? String(scalar) : escaped(scalar)
            length += more.unicodeScalars.count
            guard length <= longest else { return shown + "…" }
            shown += more
        }
        return shown
    }

    /// Cuts clean text, such as several names of programs, each of limited length.
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
        if quotationMarks.contains(scalar) { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
