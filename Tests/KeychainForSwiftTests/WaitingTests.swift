// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing

@testable import KeychainForSwift

@Suite struct WaitingCalls {
    private static let calls = 4 * Waiting.mostAtOnce

    private final class Attendance: Sendable {
        private let counts = Mutex((now: 0, most: 0, ended: 0))

        var most: Int { counts.withLock { $0.most } }
        var ended: Int { counts.withLock { $0.ended } }

        func attend(_ body: () -> Void) {
            counts.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            body()
            counts.withLock {
                $0.now -= 1
                $0.ended += 1
            }
        }
    }

    /// Were the calls to hold the threads of Swift's tasks, no task could ever let them go on.
    @Test(.timeLimit(.minutes(1)))
    func `calls that wait leave Swift's threads to other tasks, and take turns`() async {
        let gate = DispatchSemaphore(value: 0)
        let attendance = Attendance()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.calls {
                group.addTask {
                    try? await Waiting.run { () throws(KeychainError) in
                        attendance.attend { gate.wait() }
                    }
                }
            }
            group.addTask { for _ in 0..<Self.calls { gate.signal() } }
        }
        #expect(attendance.ended == Self.calls)
        #expect(1...Waiting.mostAtOnce ~= attendance.most)
    }

    @Test(.timeLimit(.minutes(1)))
    func `as many as may be under way are, however few processors there are`() async {
        let gate = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let attendance = Attendance()
        for _ in 0..<Waiting.mostAtOnce {
            Waiting.begin {
                attendance.attend {
                    begun.signal()
                    gate.wait()
                }
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "watch").async {
                // The other tests' calls may come between: each of these begins all the same.
                for _ in 0..<Waiting.mostAtOnce { begun.wait() }
                for _ in 0..<Waiting.mostAtOnce { gate.signal() }
                continuation.resume()
            }
        }
        #expect(attendance.most == Waiting.mostAtOnce)
    }
}
