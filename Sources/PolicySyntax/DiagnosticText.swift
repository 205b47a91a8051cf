// SPDX-License-Identifier: Apache-2.0

extension Diagnostic {
    /// The most characters of a source line shown on each side of the place.
    private static let reach = 60

    /// The form for people: place, code and message, the line of the source, a caret.
    package var text: String {
        let head =
            "\(VisibleText(file)):\(place.line):\(place.column): "
            + "\(severity.rawValue)[\(code.name)]: \(VisibleText(message))"
        return ([head] + excerptLines + notes.map { "   = \(VisibleText($0))" })
            .joined(separator: "\n") + "\n"
    }

    private var excerptLines: [String] {
        guard let excerpt else { return advice.map { ["   = \(VisibleText($0))"] } ?? [] }
        let scalars = Array(excerpt.unicodeScalars)
        let column = min(place.column - 1, scalars.count)
        let start = max(0, column - Self.reach)
        let end = min(scalars.count, column + Self.reach)
        let before = Self.text(scalars[start..<column])
        let after = Self.text(scalars[column..<end])
        let number = String(place.line)
        let gutter = String(repeating: " ", count: max(5, number.utf8.count))
        let padding = String(repeating: " ", count: before.unicodeScalars.count)
        let carets = String(repeating: "^", count: max(1, min(length, end - column)))
        let (open, close) = (start > 0 ? "…" : "", end < scalars.count ? "…" : "")
        let shift = start > 0 ? " " : ""
        let told = advice.map { " \(VisibleText($0))" } ?? ""
        return [
            String(gutter.dropFirst(number.utf8.count)) + number
                + " | \(open)\(before)\(after)\(close)",
            "\(gutter) | \(shift)\(padding)\(carets)\(told)",
        ]
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return VisibleText(String(view)).description
    }
}

/// Text of a file that any user may have written, made safe to show: characters that could move the
/// cursor, hide text or turn the direction of reading are shown as `\u{…}`.
package struct VisibleText: CustomStringConvertible {
    package let description: String

    package init(_ text: String) {
        guard !text.unicodeScalars.allSatisfy(Self.isHarmless) else {
            description = text
            return
        }
        description = text.unicodeScalars.map { scalar in
            Self.isHarmless(scalar)
                ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }.joined()
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
