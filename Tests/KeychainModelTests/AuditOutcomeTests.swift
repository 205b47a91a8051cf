// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

struct AuditOutcomeTests {
    @Test func `what was allowed is no refusal, and no state of the keychain is one`() {
        #expect(!AuditOutcome.allowed.isRefusal && AuditOutcome(nil) == .allowed)
        for state in KeychainState.allCases {
            #expect(!AuditOutcome(.state(state)).isRefusal, "\(state)")
        }
    }

    @Test func `every other end is one, whatever it is called`() {
        for error in RequestError.allCases {
            if case .state = error { continue }
            #expect(AuditOutcome(error).isRefusal, "\(error)")
        }
        #expect(AuditOutcome.several.isRefusal && AuditOutcome("unheardOf").isRefusal)
    }
}
