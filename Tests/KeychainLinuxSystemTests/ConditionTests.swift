// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import Testing

@Suite struct ConditionTests {
    @Test func `a thread that waits hears of the change`() {
        let condition = Condition()
        condition.lock()
        defer { condition.unlock() }
        let hasBegun = DetachedThread.start { [condition] in
            // Not before the other has given the lock away: by waiting.
            condition.lock()
            condition.broadcast()
            condition.unlock()
        }
        #expect(hasBegun && condition.wait(until: .now + .seconds(30)))
    }

    @Test func `a wait ends at its deadline, with the lock`() {
        let condition = Condition()
        condition.lock()
        #expect(!condition.wait(until: .now + .milliseconds(20)))
        #expect(!condition.wait(until: .now - .seconds(1)))
        condition.unlock()
    }
}
