// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import KeychainDaemon

@Suite struct ServingThreadsTests {
    @Test func `a server that hangs holds up no end`() {
        let hangs = DispatchSemaphore(value: 0)
        let threads = ServingThreads()
        threads.stop(within: 0)
        // Returns: the other half of the test is that it ends.
        threads.run([{ hangs.wait() }, {}])
        hangs.signal()
    }

    @Test func `servers that end are not waited for any longer`() {
        ServingThreads().run([{}, {}])
    }
}
