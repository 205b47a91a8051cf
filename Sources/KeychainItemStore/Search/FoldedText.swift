// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
// Canonical decomposition is in the standard library, but only behind this SPI.
@_spi(_Unicode) internal import Swift

/// A text without the differences that a query ignores: two texts are equal to the query when their
/// folded texts are equal. Texts of the same canonical form always are.
struct FoldedText: Equatable {
    private let scalars: [Unicode.Scalar]

    init(_ text: String, _ folding: ItemQuery.Folding) {
        var text = text
        if folding.contains(.widthInsensitive), !text.utf8.allSatisfy({ $0 < 0x80 }) {
            text = String(String.UnicodeScalarView(text.unicodeScalars.map(Self.usualWidth)))
        }
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(text.utf8.count)
        for scalar in text._nfd {
            if folding.contains(.diacriticInsensitive), Self.isDiacritic(scalar) { continue }
            if folding.contains(.caseInsensitive) {
                Self.addWithoutCase(scalar, to: &scalars)
            } else {
                scalars.append(scalar)
            }
        }
        self.scalars = scalars
    }

    /// Appends the lowercase of the uppercase of the lowercase: so “ß” is “ss”, and all forms of
    /// sigma are equal.
    private static func addWithoutCase(_ scalar: Unicode.Scalar, to scalars: inout [Unicode.Scalar])
    {
        if scalar.isASCII {
            scalars.append(Unicode.Scalar(lowered(UInt8(truncatingIfNeeded: scalar.value))))
        } else if scalar == "ı" {
            // The uppercase of “ı” is that of “i”, though it is another letter.
            scalars.append(scalar)
        } else {
            scalars += scalar.properties.lowercaseMapping.uppercased().lowercased().unicodeScalars
        }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Whether the scalar is a mark on the letter before it. The voicing marks of kana don't count:
    /// they make another letter.
    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII, scalar != "\u{3099}", scalar != "\u{309A}" else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return true
        default: return false
        }
    }

    // MARK: Width

    /// The usual form of letters that East Asian writing also has in a second width (U+FF01 to
    /// U+FFEE).
    private static func usualWidth(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let usual: UInt32? =
            switch scalar.value {
            case 0xFF01...0xFF5E: scalar.value - 0xFEE0
            case 0xFF5F...0xFF60: scalar.value - 0xFF5F + 0x2985
            // Safe: the tables have an entry for each number of their case.
            case 0xFF61...0xFF9F: katakana[Int(scalar.value - 0xFF61)].value
            // Safe: as above.
            case 0xFFA0...0xFFDC: jamo[Int(scalar.value - 0xFFA0)]
            // Safe: as above.
            case 0xFFE0...0xFFEE: symbols[Int(scalar.value - 0xFFE0)]
            default: nil
            }
        return usual.flatMap(Unicode.Scalar.init) ?? scalar
    }

    private static let katakana = Array(
        """
        。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\
        \u{3099}\u{309A}
        """.unicodeScalars)
    /// Entries that are no letter map to themselves.
    private static let jamo: [UInt32] = [
        0x1160, 0x1100, 0x1101, 0x11AA, 0x1102, 0x11AC, 0x11AD, 0x1103, 0x1104, 0x1105, 0x11B0,
        0x11B1, 0x11B2, 0x11B3, 0x11B4, 0x11B5, 0x111A, 0x1106, 0x1107, 0x1108, 0x1121, 0x1109,
        0x110A, 0x110B, 0x110C, 0x110D, 0x110E, 0x110F, 0x1110, 0x1111, 0x1112, 0xFFBF, 0xFFC0,
        0xFFC1, 0x1161, 0x1162, 0x1163, 0x1164, 0x1165, 0x1166, 0xFFC8, 0xFFC9, 0x1167, 0x1168,
        0x1169, 0x116A, 0x116B, 0x116C, 0xFFD0, 0xFFD1, 0x116D, 0x116E, 0x116F, 0x1170, 0x1171,
        0x1172, 0xFFD8, 0xFFD9, 0x1173, 0x1174, 0x1175,
    ]
    private static let symbols: [UInt32] = [
        0xA2, 0xA3, 0xAC, 0xAF, 0xA6, 0xA5, 0x20A9, 0xFFE7, 0x2502, 0x2190, 0x2191, 0x2192, 0x2193,
        0x25A0, 0x25CB,
    ]
}
