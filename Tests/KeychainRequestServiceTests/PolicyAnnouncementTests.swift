// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainActivePolicy
@testable import PolicyLoading
import KeychainModel
import KeychainPolicyEngine
import KeychainRequestAudit
import SystemTestSupport
import Testing

/// What the machine hears of them.
@Suite struct PolicyAnnouncementTests {
    private let folder: ScratchFolder
    private let policy = ActivePolicy()
    private let told = Box<[String]>([])

    init() throws { folder = try ScratchFolder() }

    private func begin() -> AuditLog {
        let audit = AuditLog(folder: folder.path)
        let told = told
        let announcement = PolicyAnnouncement(audit) { signal, text in
            told.change { $0.append("\(signal): \(text)") }
        }
        policy.onReport { [policy] report in
            announcement.announce(report, policy.now.judge.revision)
        }
        return audit
    }

    private func records(_ audit: AuditLog) throws -> [[String: Any]] {
        audit.flush()
        let text = FileManager.default.contents(atPath: folder("audit.jsonl")) ?? Data()
        return try text.split(separator: 10).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return record ?? [:]
        }
    }

    private func outcomes(_ audit: AuditLog) throws -> [String] {
        try records(audit).map { "\($0["operation"] ?? "") \($0["outcome"] ?? "")" }
    }

    @Test func `the record has the revision, the rules and the files of what was read`() throws {
        let audit = begin()
        policy.use(
            ActivePolicy.Pair(
                .empty, reach: .empty,
                revision: PolicyRevision(hash: [0, 1, 2, 3, 4, 0xFF, 7], number: 5)))
        let load = PolicyLoad(
            rules: 3, files: [PolicyLoad.File(path: "/etc/x.yaml", hash: "ab")],
            weakened: ["a by b"])
        policy.tell(PolicyReport(text: "3 rules in force", load: load))
        policy.tell(PolicyReport(isDegraded: true, text: "not taken"))
        let records = try records(audit)
        #expect(
            records.compactMap { $0["policy"] as? String } == ["0001020304ff.5", "0001020304ff.5"])
        let loaded = try #require(records[0]["loaded"] as? [String: Any])
        #expect(loaded["rules"] as? Int == 3)
        #expect(
            (loaded["files"] as? [[String: String]]) == [["path": "/etc/x.yaml", "hash": "ab"]])
        #expect(loaded["weakened"] as? [String] == ["a by b"])
        #expect(records[1]["loaded"] == nil)
    }

    @Test func `each reading has a record of its own, however many there are`() throws {
        let audit = begin()
        for number in 0..<100 {
            policy.tell(PolicyReport(text: "\(number) rules in force"))
        }
        #expect(try records(audit).count == 100)
    }

    @Test func `each reading is told and recorded, as it went`() throws {
        let audit = begin()
        policy.tell(PolicyReport(text: "3 rules in force"))
        policy.tell(PolicyReport(isDegraded: true, text: "not taken"))
        #expect(told.value == ["InForce: 3 rules in force", "Degraded: not taken"])
        #expect(
            try outcomes(audit) == ["loadPolicies allowed", "loadPolicies damagedPolicy"])
    }
}
