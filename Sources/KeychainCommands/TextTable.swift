// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import Terminal

/// How text is set off on a terminal; not at all elsewhere.
package struct TextStyle {
    private let hasColours: Bool

    /// No colours where the user wants none (`NO_COLOR`), or the terminal has none.
    package init(_ stream: StandardStream) {
        hasColours =
            stream.isTerminal && ProcessEnvironment["NO_COLOR"] == nil
            && ProcessEnvironment["TERM"] != "dumb"
    }

    func bold(_ text: String) -> String { wrapped(text, "1") }
    func dim(_ text: String) -> String { wrapped(text, "2") }

    private func wrapped(_ text: String, _ code: String) -> String {
        hasColours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// Rows of text, their columns below each other.
struct TextTable {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    mutating func add(_ row: [String]) { rows.append(row.map(PlainText.line)) }

    /// Nothing where there are no rows.
    func text(_ style: TextStyle) -> String {
        guard !rows.isEmpty else { return "" }
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ row: [String], _ mark: (Int, String) -> String) -> String {
            var text = ""
            for (column, cell) in row.enumerated() {
                text += mark(column, cell)
                guard column < row.count - 1 else { break }
                text += String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            return text + "\n"
        }
        return line(header) { style.dim($1) }
            + rows.map { line($0) { $0 == 0 ? style.bold($1) : $1 } }.joined()
    }
}
