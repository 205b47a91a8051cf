// SPDX-License-Identifier: Apache-2.0

/// The names in policies: ids of rules, definitions, files.
package enum Identifier {
    package static let longest = 128

    /// Whether the text is letters and digits, joined by dots, dashes and underscores.
    package static func isOne(_ text: String) -> Bool {
        guard (1...longest).contains(text.utf8.count) else { return false }
        var wasLetter = false
        for scalar in text.unicodeScalars {
            let isJoint = scalar == "." || scalar == "-" || scalar == "_"
            guard isLetter(scalar) || (isJoint && wasLetter) else { return false }
            wasLetter = !isJoint
        }
        return wasLetter
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
}

/// Letters that look like others (the ones whose shapes Latin, Cyrillic and Greek share).
enum Lookalike {
    private enum Script { case latin, greek, cyrillic, armenian, cherokee }

    private static func script(_ scalar: Unicode.Scalar) -> Script? {
        switch scalar.value {
        case 0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x1E00...0x1EFF, 0xFF21...0xFF5A: .latin
        case 0x370...0x3FF, 0x1F00...0x1FFF: .greek
        case 0x400...0x52F, 0x1C80...0x1C8F: .cyrillic
        case 0x531...0x58F: .armenian
        case 0x13A0...0x13FF, 0xAB70...0xABBF: .cherokee
        default: nil
        }
    }

    static func mixesScripts(_ text: String) -> Bool {
        Set(text.unicodeScalars.compactMap(script)).count > 1
    }

    private static let table: [Unicode.Scalar: Unicode.Scalar] = [
        "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "ѓ": "r", "һ": "h", "і": "i", "ј": "j",
        "к": "k", "ӏ": "l", "м": "m", "п": "n", "о": "o", "р": "p", "ԛ": "q", "г": "r", "ѕ": "s",
        "т": "t", "ц": "u", "ѵ": "v", "ԝ": "w", "х": "x", "у": "y", "А": "A", "В": "B", "С": "C",
        "Е": "E", "Н": "H", "І": "I", "Ј": "J", "К": "K", "М": "M", "О": "O", "Р": "P", "Ѕ": "S",
        "Т": "T", "Х": "X", "У": "Y", "α": "a", "ο": "o", "ρ": "p", "ν": "v", "ι": "i", "κ": "k",
        "υ": "u", "χ": "x", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K",
        "Μ": "M", "Ν": "N", "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X",
    ]

    /// The text with letters that look Latin replaced by Latin ones; nil where it has none.
    static func skeleton(_ text: String) -> String? {
        guard text.unicodeScalars.contains(where: { table[$0] != nil }) else { return nil }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text.unicodeScalars.map { table[$0] ?? $0 })
        return String(view)
    }
}
