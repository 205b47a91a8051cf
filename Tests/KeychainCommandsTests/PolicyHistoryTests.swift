// SPDX-License-Identifier: Apache-2.0
import KeychainCommands
import Testing

struct PolicyHistoryTests {
    private func lines(_ records: String...) -> [String] {
        var history = PolicyHistory()
        for record in records.compactMap({ AuditRecord(Array($0.utf8)) }) { history.add(record) }
        return history.entries.flatMap(\.lines)
    }

    private func load(
        _ revision: String, rules: Int, _ files: [String: String], weakened: String = "",
        outcome: String = "allowed"
    ) -> String {
        let files = files.sorted { $0.key < $1.key }
            .map { #"{"path": "\#($0)", "hash": "\#($1)"}"# }.joined(separator: ", ")
        return #"{"time": "2026-11-23T08:00:00Z", "operation": "loadPolicies", "outcome": ""#
            + outcome + #"", "policy": "\#(revision)", "loaded": {"rules": \#(rules), "files": ["#
            + files + #"], "unlisted": 0, "weakened": [\#(weakened)]}}"#
    }

    @Test func `tells what was added, changed and removed, and the rules before and after`() {
        let found = lines(
            load("a.1", rules: 12, ["/usr/10.yaml": "00", "/etc/20.yaml": "01"]),
            #"{"time": "2026-11-23T08:00:01Z", "operation": "add", "outcome": "allowed"}"#,
            load(
                "b.2", rules: 15,
                ["/usr/10.yaml": "00", "/etc/20.yaml": "02", "/etc/30.yaml": "03"],
                weakened: #""x by y""#),
            load("c.3", rules: 15, ["/usr/10.yaml": "00", "/etc/30.yaml": "03"]))
        #expect(
            found == [
                "2026-11-23T08:00:00Z  revision a.1: 12 rules",
                "    /etc/20.yaml (01)", "    /usr/10.yaml (00)",
                "2026-11-23T08:00:00Z  revision b.2: 12 → 15 rules",
                "    changed: /etc/20.yaml (01 → 02)", "    added: /etc/30.yaml (03)",
                "    weakened: x by y",
                "2026-11-23T08:00:00Z  revision c.3: 15 rules",
                "    removed: /etc/20.yaml",
            ])
    }

    @Test func `tells what was not taken, and what was in force instead`() {
        let refused =
            #"{"time": "2026-11-23T08:00:00Z", "operation": "loadPolicies", "#
            + #""outcome": "damagedPolicy", "policy": "a.1"}"#
        let found = lines(
            load("a.1", rules: 2, [:], outcome: "damagedPolicy"), refused,
            load("b.2", rules: 3, ["/etc/20.yaml": "01"]))
        #expect(
            found == [
                "2026-11-23T08:00:00Z  revision a.1: 2 rules, in place of files that can't be used",
                "2026-11-23T08:00:00Z  not taken: revision a.1 stays in force",
                "2026-11-23T08:00:00Z  revision b.2: 2 → 3 rules",
                "    /etc/20.yaml (01)",
            ])
    }
}
