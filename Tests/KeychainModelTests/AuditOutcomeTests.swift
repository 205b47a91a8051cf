// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

struct AuditOutcomeTests {
    @Test func `what was allowed is no refusal, nor is a locked keychain or a missing item`() {
        #expect(!AuditOutcome.allowed.isRefusal && AuditOutcome(nil) == .allowed)
        for state in [KeychainState.locked, .notFound, .noSuchKeychain, .duplicate] {
            #expect(!AuditOutcome(.state(state)).isRefusal, "\(state)")
        }
    }

    @Test(arguments: [KeychainState.readOnly, .measurementsDiffer, .protectorChanged])
    func `a write to the machine's keychain and another boot are refusals`(_ state: KeychainState) {
        #expect(AuditOutcome(.state(state)).isRefusal)
    }

    @Test func `every other end is one, whatever it is called`() {
        for error in RequestError.allCases {
            if case .state = error { continue }
            #expect(AuditOutcome(error).isRefusal, "\(error)")
        }
        #expect(AuditOutcome.several.isRefusal && AuditOutcome("unheardOf").isRefusal)
    }
}
