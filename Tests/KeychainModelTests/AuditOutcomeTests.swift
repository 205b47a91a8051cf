// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

struct AuditOutcomeTests {
    @Test func `what a client asked for and got, or was not there, is no refusal`() {
        #expect(!AuditOutcome.allowed.isRefusal)
        #expect(!AuditOutcome(Refusal.notFound).isRefusal)
        #expect(AuditOutcome(nil) == .allowed)
    }

    @Test func `every other end is one, whatever it is called`() {
        for refusal in Refusal.allCases where refusal != .notFound {
            #expect(AuditOutcome(refusal).isRefusal, "\(refusal)")
        }
        #expect(AuditOutcome.several.isRefusal && AuditOutcome("unheardOf").isRefusal)
    }
}
