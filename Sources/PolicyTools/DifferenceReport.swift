// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
package import PolicyAnalysis
internal import PolicyRequestSpace
internal import Terminal

/// The difference of two sets in formats for other readers than a terminal.
package enum DifferenceReport: String, CaseIterable, Sendable {
    case table, csv, html

    package func text(_ found: PolicyDifference) -> String {
        switch self {
        case .table: table(found)
        case .csv: csv(found)
        case .html: html(found)
        }
    }

    // MARK: Rows

    /// One row for each area.
    private struct Row {
        let change: PolicyChange
        let area: RequestArea

        static let names = [
            "change", "new access", "decision", "operations", "subject", "item", "when",
            "statements",
        ]

        private func cells(_ words: (AreaField) -> String) -> [String] {
            [
                change.kind.rawValue + (change.isExact ? "" : ", for some of these"),
                change.isNewAccess ? "yes" : change.needsLess ? "less proof" : "no", change.words,
                operations, fields("subject.", words), fields("resource.", words),
                fields("when.", words), change.causes,
            ]
        }

        var operations: String {
            area.fields.first { $0.name == "operation" }?.values ?? "any"
        }

        /// With each field shortened.
        var shown: [String] { cells(\.shown) }
        /// With each field in full.
        var whole: [String] { cells(\.values) }

        func fields(_ block: String, _ words: (AreaField) -> String = \.shown) -> String {
            let own = area.fields.filter { $0.name.hasPrefix(block) }
            return own.isEmpty
                ? "any"
                : own.map { "\($0.name.dropFirst(block.count)): \(words($0))" }
                    .joined(separator: "; ")
        }
    }

    /// The most rows of a report; a browser can't show a longer page well.
    package var mostRows: Int {
        switch self {
        case .table, .html: 1_000
        case .csv: 100_000
        }
    }

    private func rows(_ found: PolicyDifference) -> (shown: [Row], notes: [String]) {
        let count = found.changes.reduce(0) { $0 + $1.areas.count }
        let rows = found.changes.lazy.flatMap { change in
            change.areas.lazy.map { Row(change: change, area: $0) }
        }.prefix(mostRows)
        let cut = "these are the first \(mostRows) of \(count) rows; --json has all"
        return (Array(rows), (count > mostRows ? [cut] : []) + [found.left].compactMap(\.self))
    }

    // MARK: Forms

    /// Each cell and note is cleaned once, here and where it is quoted or marked up.
    private func table(_ found: PolicyDifference) -> String {
        let (shown, notes) = rows(found)
        let rows = [Row.names] + shown.map { $0.shown.map(PlainText.line) }
        let widths = Row.names.indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        let lines = rows.map { row in
            var line = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        return (lines + notes.map(PlainText.line)).joined(separator: "\n") + "\n"
    }

    /// As RFC 4180 says. A cell that a spreadsheet would calculate gets an apostrophe in front.
    private func csv(_ found: PolicyDifference) -> String {
        func quoted(_ cell: String) -> String {
            let isFormula = cell.unicodeScalars.first.map("=+-@".unicodeScalars.contains) ?? false
            return "\"" + (isFormula ? "'" : "") + Self.replaced(cell, ["\"": "\"\""]) + "\""
        }
        let (shown, notes) = rows(found)
        var rows = [Row.names + ["example"]]
        rows += shown.map {
            $0.whole.map(PlainText.line) + [PlainText.json($0.area.example.json)]
        }
        rows += notes.map { [PlainText.line($0)] + Row.names.map { _ in "" } }
        return rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    /// The text with some scalars replaced. It works on scalars, since a quote with a combining
    /// mark is one character to `String`, but a quote to the report's reader.
    private static func replaced(_ text: String, _ others: [Unicode.Scalar: String]) -> String {
        var replaced = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let other = others[scalar] {
                replaced.append(contentsOf: other.unicodeScalars)
            } else {
                replaced.append(scalar)
            }
        }
        return String(replaced)
    }

    private func html(_ found: PolicyDifference) -> String {
        let (rows, notes) = rows(found)
        let escaped = Self.escaped
        let head = Row.names.map { "<th>\($0)</th>" }.joined()
        let body = rows.map { row in
            "<tr class=\"\(row.change.colour)\">"
                + row.shown.map { "<td>\(escaped($0))</td>" }.joined() + "</tr>"
        }.joined(separator: "\n")
        let examples = found.changes.prefix(mostRows).map { change in
            "<li>\(escaped(change.kind.rawValue)): "
                + "<code>\(Self.markup(PlainText.json(change.request.json)))</code>"
                + "<br>before: \(escaped(change.before.words))"
                + "<br>after: \(escaped(change.after.words))</li>"
        }.joined(separator: "\n")
        let left = notes.map { "<p><strong>\(escaped($0))</strong></p>\n" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Policy difference</title>
            <style>
            body { font: 14px/1.4 sans-serif; margin: 2em; }
            table { border-collapse: collapse; } td, th { border: 1px solid #999; padding: .3em .5em;
            text-align: left; vertical-align: top; } th { background: #eee; }
            .more { background: #fde8e8; } .less { background: #e6f4ea; } .other { background: #fff; }
            code { font-size: 12px; overflow-wrap: anywhere; } svg { max-width: 100%; }
            </style></head><body>
            <h1>Policy difference</h1>
            <p>\(found.summary).
            Red: a program can do more, or with less proof. Green: less, or with more proof.</p>
            \(left)\(Self.picture(rows))
            <table><thead><tr>\(head)</tr></thead><tbody>
            \(body)
            </tbody></table>
            <h2>Examples</h2>
            <ul>
            \(examples)
            </ul>
            </body></html>

            """
    }

    // MARK: The picture

    /// The most arrows that can still be told apart.
    private static let mostArrows = 60

    /// Subjects on the left, items on the right, and an arrow for each area.
    private static func picture(_ rows: [Row]) -> String {
        let others = rows.count - mostArrows
        let rows = Array(rows.prefix(mostArrows))
        guard !rows.isEmpty else { return "" }
        let left =
            others > 0
            ? "\n<p>The picture shows \(rows.count) rows of \(rows.count + others).</p>" : ""
        let subjects = distinct(rows.map { $0.fields("subject.") })
        let items = distinct(rows.map { $0.fields("resource.") })
        let height = 40 * max(subjects.count, items.count) + 20
        func place(_ text: String, in texts: [String]) -> Int {
            (texts.firstIndex(of: text) ?? 0) * 40 + 30
        }
        var parts = subjects.map { box($0, x: 10, y: place($0, in: subjects)) }
        parts += items.map { box($0, x: 750, y: place($0, in: items)) }
        for row in rows {
            let from = place(row.fields("subject."), in: subjects)
            let to = place(row.fields("resource."), in: items)
            parts.append(
                "<g><title>\(escaped(row.shown.joined(separator: " | ")))</title>"
                    + "<line x1=\"360\" y1=\"\(from)\" x2=\"742\" y2=\"\(to)\" stroke="
                    + "\"\(row.change.stroke)\" stroke-width=\"2\" marker-end=\"url(#end)\"/>"
                    + "<text x=\"551\" y=\"\((from + to) / 2 - 4)\" text-anchor=\"middle\">"
                    + "\(escaped(short(row.operations, 40)))</text></g>")
        }
        return """
            <svg viewBox="0 0 1110 \(height)" role="img" font-family="sans-serif" font-size="11">
            <title>Who gains or loses what</title>
            <defs><marker id="end" markerWidth="8" markerHeight="8" refX="6" refY="3"
            orient="auto"><path d="M0,0 L6,3 L0,6 z"/></marker></defs>
            \(parts.joined(separator: "\n"))
            </svg>\(left)
            """
    }

    private static func box(_ text: String, x: Int, y: Int) -> String {
        "<g><title>\(escaped(text))</title><rect x=\"\(x)\" y=\"\(y - 14)\" width=\"350\" "
            + "height=\"28\" fill=\"#f4f4f4\" stroke=\"#666\"/>"
            + "<text x=\"\(x + 6)\" y=\"\(y + 4)\">\(escaped(short(text, 58)))</text></g>"
    }

    private static func distinct(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }

    private static func short(_ text: String, _ most: Int) -> String {
        text.count <= most ? text : text.prefix(most - 1) + "…"
    }

    private static func escaped(_ text: String) -> String { markup(PlainText.line(text)) }

    /// Cleaned text, escaped for HTML.
    private static func markup(_ plain: String) -> String {
        replaced(plain, ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"])
    }
}

extension PolicyChange {
    fileprivate var colour: String {
        switch kind {
        case .newlyAllowed, .noLongerNeeds: "more"
        case .newlyDenied, .nowNeeds: "less"
        case .toldDifferently: "other"
        }
    }

    fileprivate var stroke: String {
        switch colour {
        case "more": "#c5221f"
        case "less": "#137333"
        default: "#5f6368"
        }
    }
}
