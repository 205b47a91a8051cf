// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import PolicyTools
import Testing

@Suite struct `A report of a difference` {
    private let found = Self.difference(from: "a\"<b>", id: "r")

    private static func difference(from service: PolicyText, id: PolicyText) -> PolicyDifference {
        let origin = PolicyOrigin(file: "a.yaml", line: 1, column: 1, level: 0)
        func forbid(_ service: PolicyText) -> PolicySet {
            let box = PolicyBox([.text(.service, [.literal(service)])])
            return PolicySet(rules: [
                PolicyRule(id: id, origin: origin, effect: .forbid(""), match: PolicyMatch(box))
            ])
        }
        return PolicyAnalysis(forbid(service), day: 10).difference(to: forbid("plain"))
    }

    /// Byte by byte, for a quote with a combining mark is no quote to `String`.
    private static func has(_ text: String, _ part: String) -> Bool {
        text.utf8.firstRange(of: part.utf8) != nil
    }

    /// Rows of cells as a reader of RFC 4180 has them.
    private static func cells(_ csv: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var cell = String.UnicodeScalarView()
        var isQuoted = false
        for scalar in csv.unicodeScalars {
            switch scalar {
            case "\"":
                if !isQuoted, !cell.isEmpty { cell.append(scalar) }
                isQuoted.toggle()
            case "," where !isQuoted:
                row.append(String(cell))
                cell.removeAll()
            case "\n" where !isQuoted:
                rows.append(row + [String(cell)])
                row = []
                cell.removeAll()
            case "\r" where !isQuoted: break
            default: cell.append(scalar)
            }
        }
        return rows
    }

    @Test func `names each change, what made it and where it lies`() {
        let table = DifferenceReport.table.text(found)
        #expect(table.contains("newly allowed"))
        #expect(table.contains("newly denied"))
        #expect(table.contains("r (changed)"))
        #expect(table.contains("service: plain"))
    }

    @Test func `as CSV keeps quotes and lines apart`() {
        let lines = DifferenceReport.csv.text(found).split(separator: "\r\n")
        #expect(lines.count == 1 + found.changes.reduce(0) { $0 + $1.areas.count })
        #expect(lines.allSatisfy { $0.hasPrefix("\"") && $0.hasSuffix("\"") })
        #expect(lines.contains { $0.contains("service: \"\"a\\\"\"<b>\"\"") })
    }

    @Test func `as CSV keeps cells apart whatever they hold`() {
        for text in [
            "a\"\u{301},b", "a\"\u{600},\"b", "a\r\nb", "\u{600}\"\u{600}", "\u{202E}x", ",\u{308}",
        ] {
            let found = Self.difference(from: PolicyText(text), id: "r")
            let csv = DifferenceReport.csv.text(found)
            let rows = Self.cells(csv)
            #expect(rows.count == 1 + found.changes.reduce(0) { $0 + $1.areas.count })
            #expect(rows.allSatisfy { $0.count == 9 })
            let isHidden = csv.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x600 }
            #expect(!isHidden)
        }
    }

    @Test func `as CSV has no cell that is calculated`() {
        for id in ["=1+1", "=\u{301}1", "-2", "@x", "+3"] {
            let found = Self.difference(from: "x", id: PolicyText(id))
            let rows = Self.cells(DifferenceReport.csv.text(found)).dropFirst()
            #expect(!rows.isEmpty)
            for cell in rows.joined() {
                let isFormula = "=+-@".unicodeScalars.contains(cell.unicodeScalars.first ?? ".")
                #expect(!isFormula)
            }
        }
    }

    @Test func `as a page lets no name become markup`() {
        let page = DifferenceReport.html.text(found)
        #expect(page.contains("service: &quot;a\\&quot;&lt;b&gt;&quot;"))
        #expect(!page.contains("<b>"))
        #expect(page.contains("<svg"))
        #expect(!page.contains("http"))
    }

    @Test func `as a page counts, and says of what the picture is`() {
        let one = DifferenceReport.html.text(
            PolicyDifference(changes: Array(found.changes.prefix(1))))
        #expect(one.contains("<p>1 difference: "))
        #expect(!one.contains("The picture shows"))
        let changes = (0..<61).flatMap { _ in found.changes }
        let rows = changes.reduce(0) { $0 + $1.areas.count }
        let many = DifferenceReport.html.text(PolicyDifference(changes: changes))
        #expect(many.contains("<p>\(changes.count) differences: "))
        #expect(many.contains("<p>The picture shows 60 rows of \(rows).</p>"))
    }

    @Test func `as a page lets no name with a mark become markup`() {
        for text in ["\u{600}<b>", "<\u{301}b\u{600}>", "\"\u{301}\u{600}\"", "&\u{308}\u{600}'"] {
            let page = DifferenceReport.html.text(
                Self.difference(from: PolicyText(text), id: "<i>\u{600}<i>"))
            for part in [
                "<b>", "<i>", "<b\u{600}", "<i\u{600}", "<\u{301}", "\u{600}", "\"\u{301}",
                "&\u{308}",
            ] {
                let isThere = Self.has(page, part)
                #expect(!isThere)
            }
        }
    }

    @Test func `says how many rows it does not have`() {
        let changes = (0..<600).flatMap { _ in found.changes }
        let count = changes.reduce(0) { $0 + $1.areas.count }
        let many = PolicyDifference(changes: changes)
        for report in [DifferenceReport.table, .html] {
            let text = report.text(many)
            #expect(text.contains("these are the first 1000 of \(count) rows; --json has all"))
            let few = report.text(found)
            #expect(!few.contains("these are the first"))
        }
        #expect(DifferenceReport.table.text(many).split(separator: "\n").count == 1_002)
        #expect(Self.cells(DifferenceReport.csv.text(many)).count == count + 1)
    }

    @Test func `makes a value plain once`() {
        let found = Self.difference(from: "a\u{202E}\\u{202e}", id: "r")
        // The value itself has a backslash, which quoting doubles.
        let words = "\"a\\u{202e}\\\\u{202e}\""
        #expect(DifferenceReport.table.text(found).contains("service: \(words)"))
        let cells = Self.cells(DifferenceReport.csv.text(found)).joined()
        #expect(cells.contains { $0.contains("service: \(words)") })
        let page = DifferenceReport.html.text(found)
        #expect(page.contains("service: " + words.replacing("\"", with: "&quot;")))
    }
}
