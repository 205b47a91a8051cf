// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Threads for what must not hold up the thread that has the connection. Work is begun in the order
/// in which it comes.
final class WorkPool: @unchecked Sendable {
    private let most: Int
    private let condition = Condition()
    // All under the condition's lock.
    private var waiting: [@Sendable () -> Void] = []
    private var next = 0
    private var threads = 0
    private var idle = 0

    init(threads most: Int) { self.most = most }

    /// Begun as soon as one of the threads is free. Callers bound how much they bring.
    func submit(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(work)
        let isOneMore = idle < waiting.count - next && threads < most
        if isOneMore { threads += 1 }
        condition.unlock()
        // The thread that is woken would wait for the lock at once.
        condition.signal()
        guard isOneMore, !DetachedThread.start({ self.run() }) else { return }
        condition.lock()
        threads -= 1
        let isAlone = threads == 0
        condition.unlock()
        // The machine has no room for a thread: slower, and done all the same.
        if isAlone { while runOne() {} }
    }

    private func run() {
        while true {
            condition.lock()
            idle += 1
            while next == waiting.count { _ = condition.wait(until: .now + .seconds(3600)) }
            idle -= 1
            let work = takeFirst()
            condition.unlock()
            work()
        }
    }

    private func runOne() -> Bool {
        condition.lock()
        guard next < waiting.count else {
            condition.unlock()
            return false
        }
        let work = takeFirst()
        condition.unlock()
        work()
        return true
    }

    /// Under the lock, where one waits.
    private func takeFirst() -> @Sendable () -> Void {
        let work = waiting[next]
        next += 1
        if next == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            next = 0
        }
        return work
    }
}
