// SPDX-License-Identifier: Apache-2.0
import Dispatch
import KeychainLinuxSystem
import Synchronization
import Testing

@testable import WorkerDispatch

@Suite struct ErrandsTests {
    private static let patience = DispatchTimeInterval.seconds(20)

    private let errands = Errands()
    private let gate = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)

    private func ask(_ user: UInt32) -> Bool {
        errands.run(for: user) { [gate, done] in
            gate.wait()
            done.signal()
        }
    }

    private func isDone() -> Bool { done.wait(timeout: .now() + Self.patience) == .success }

    @Test func `a user's errands that wait delay no other user's, and are bounded`() {
        let most = Errands.atOnce + Errands.mostWaiting
        for _ in 0..<most { #expect(ask(1)) }
        #expect(!ask(1))
        let other = DispatchSemaphore(value: 0)
        #expect(errands.run(for: 2) { other.signal() })
        #expect(other.wait(timeout: .now() + Self.patience) == .success)
        for _ in 0..<most { gate.signal() }
        for _ in 0..<most { #expect(isDone()) }
        gate.signal()
        #expect(ask(1))
        #expect(isDone())
    }

    @Test func `of a worker that ended only what was begun is done`() {
        for _ in 0..<Errands.atOnce + 5 { #expect(ask(1)) }
        errands.forget(1)
        for _ in 0..<Errands.atOnce + 5 { gate.signal() }
        for _ in 0..<Errands.atOnce { #expect(isDone()) }
        #expect(done.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
    }
}
