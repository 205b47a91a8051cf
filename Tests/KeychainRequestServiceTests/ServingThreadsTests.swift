// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing

@testable import KeychainDaemon

@Suite struct ServingThreadsTests {
    @Test func `a server that hangs holds up no end`() {
        let hangs = DispatchSemaphore(value: 0)
        let hasEnded = Atomic(false)
        let threads = ServingThreads()
        threads.stop(within: 0)
        let hasRun = threads.run([
            {
                hangs.wait()
                hasEnded.store(true, ordering: .releasing)
            }, {},
        ])
        let hangsStill = !hasEnded.load(ordering: .acquiring)
        #expect(hasRun && hangsStill)
        hangs.signal()
    }

    @Test func `servers that end are not waited for any longer`() {
        let ended = Atomic(0)
        let serve: @Sendable () -> Void = { ended.add(1, ordering: .acquiringAndReleasing) }
        #expect(ServingThreads().run([serve, serve]))
        let count = ended.load(ordering: .acquiring)
        #expect(count == 2)
    }
}
