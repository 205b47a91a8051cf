// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import PolicyTools
import Testing

@Suite struct `A report of a difference` {
    private let found: PolicyDifference = {
        let origin = PolicyOrigin(file: "a.yaml", line: 1, column: 1, level: 0)
        func forbid(_ service: PolicyText) -> PolicySet {
            let box = PolicyBox([.text(.service, [.literal(service)])])
            return PolicySet(rules: [
                PolicyRule(id: "r", origin: origin, effect: .forbid(""), match: PolicyMatch(box))
            ])
        }
        return PolicyAnalysis(forbid("a\"<b>"), day: 10).difference(to: forbid("plain"))
    }()

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
        #expect(lines.contains { $0.contains("service: a\"\"<b>") })
    }

    @Test func `as a page lets no name become markup`() {
        let page = DifferenceReport.html.text(found)
        #expect(page.contains("service: a&quot;&lt;b&gt;"))
        #expect(!page.contains("<b>"))
        #expect(page.contains("<svg"))
        #expect(!page.contains("http"))
    }
}
