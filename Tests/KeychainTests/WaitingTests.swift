// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import Keychain

@Suite struct WaitingCalls {
    /// Were the calls to hold the threads of Swift's tasks, no task could ever let them go on.
    @Test(.timeLimit(.minutes(1)))
    func `calls that wait leave Swift's threads to other tasks`() async throws {
        let calls = 32
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<calls {
                group.addTask {
                    try? await Waiting.run { () throws(KeychainError) in gate.wait() }
                }
            }
            group.addTask { for _ in 0..<calls { gate.signal() } }
        }
    }
}
