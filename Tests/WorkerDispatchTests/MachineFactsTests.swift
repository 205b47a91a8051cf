// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WorkerDispatch

@Suite struct MachineFactsTests {
    @Test func `of a session of another user's nothing is told`() {
        let facts = MachineFacts(
            emptyPassword: { _ in false }, biometry: { _ in [] }, unitUser: { _ in nil },
            sessionUser: { $0 == "c1" ? 1000 : nil }, controller: { _ in 77 })
        #expect(facts.controller(of: "c1", for: 1000) == 77)
        #expect(facts.controller(of: "c1", for: 1001) == nil)
        #expect(facts.controller(of: "c2", for: 1000) == nil)
    }
}
