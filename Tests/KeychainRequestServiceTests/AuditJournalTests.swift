// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
@testable import AuditStores
import KeychainModel
@testable import KeychainRequestAudit
import LoginManager
import Testing

/// The journal's copy.
@Suite struct AuditJournalTests {
    private func record(_ user: UInt32) -> AuditRecord {
        AuditRecord(
            time: Date(), operation: "add", user: user, process: nil, program: "exe:/x",
            session: nil, via: nil, evidence: [], outcome: AuditOutcome(.refused(.notEntitled)),
            because: [],
            items: [],
            count: 1,
            milliseconds: nil, trust: nil, request: nil, decision: nil, requires: nil, would: nil,
            cut: [], policy: nil, loaded: nil)
    }

    @Test func `a journal that takes nothing holds up no request, and one user fills no queue`() {
        let gate = DispatchSemaphore(value: 0)
        let sent = Box<[String: Int]>([:])
        let journal = AuditJournal { fields in
            gate.wait()
            gate.signal()
            let user = fields.first { $0.name == "KEYCHAIN_UID" }?.value ?? ""
            sent.change { $0[user, default: 0] += 1 }
        }
        for _ in 0..<1000 { journal.append(record(1)) }
        for _ in 0..<5 { journal.append(record(2)) }
        gate.signal()
        journal.finish()
        #expect(sent.value == ["1": 200, "2": 5])
        // There is room again.
        journal.append(record(1))
        journal.finish()
        #expect(sent.value["1"] == 201)
    }

    @Test func `a journal that is full takes no more of any user`() {
        let gate = DispatchSemaphore(value: 0)
        let sent = Box(0)
        let journal = AuditJournal { _ in
            gate.wait()
            gate.signal()
            sent.change { $0 += 1 }
        }
        for user in 0..<UInt32(10) {
            for _ in 0..<150 { journal.append(record(user)) }
        }
        gate.signal()
        journal.finish()
        #expect(sent.value == 1000)
    }
}
