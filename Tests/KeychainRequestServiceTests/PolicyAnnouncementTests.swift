// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainActivePolicy
@testable import KeychainDaemon
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
        PolicyAnnouncement.begin(policy, audit) { signal, text in
            told.change { $0.append("\(signal): \(text)") }
        }
        return audit
    }

    private func outcomes(_ audit: AuditLog) throws -> [String] {
        audit.flush()
        guard let text = FileManager.default.contents(atPath: folder("audit.jsonl")) else {
            return []
        }
        return try text.split(separator: 10).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return "\(record?["operation"] ?? "") \(record?["outcome"] ?? "")"
        }
    }

    @Test func `each reading is told and recorded, as it went`() throws {
        let audit = begin()
        policy.tell(ActivePolicy.Report(text: "3 rules in force"))
        policy.tell(ActivePolicy.Report(isDegraded: true, text: "not taken"))
        #expect(told.value == ["InForce: 3 rules in force", "Degraded: not taken"])
        #expect(
            try outcomes(audit) == ["loadPolicies allowed", "loadPolicies damagedPolicy"])
    }

    @Test func `what was read before is told, and nothing where there are no policies`() throws {
        #expect(try outcomes(begin()).isEmpty && told.value.isEmpty)
        policy.tell(ActivePolicy.Report(text: "3 rules in force"))
        told.change { $0 = [] }
        _ = begin()
        #expect(told.value == ["InForce: 3 rules in force"])
    }
}
