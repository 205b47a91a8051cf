// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLinuxSystem

/// Threads that serve until they are told to stop. The daemon waits for them only for a limited
/// time, so that a thread that hangs in the kernel does not delay its end.
final class ServingThreads: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let overdue = DispatchQueue(label: "stop")

    /// Returns when all bodies have returned, or the time after `stop` is over. Returns false at
    /// once where the machine has no room for one of the threads.
    func run(_ bodies: [@Sendable () -> Void]) -> Bool {
        let serving = DispatchGroup()
        for body in bodies {
            serving.enter()
            let hasBegun = DetachedThread.start {
                body()
                serving.leave()
            }
            guard hasBegun else {
                serving.leave()
                return false
            }
        }
        serving.notify(queue: overdue) { [ended] in ended.signal() }
        ended.wait()
        return true
    }

    func stop(within seconds: Int) {
        overdue.asyncAfter(deadline: .now() + .seconds(seconds)) { [ended] in ended.signal() }
    }
}
