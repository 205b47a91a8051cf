// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Ends a question when its time is up or the client no longer waits for the answer.
final class PromptWatchdog: @unchecked Sendable {
    private static let glance: Duration = .milliseconds(200)

    private let deadline: ContinuousClock.Instant
    private let isMoot: @Sendable () -> Bool
    private let end: @Sendable () -> Void
    private let condition = Condition()
    private var isOver = false

    /// `end` is called once at most, and never after `stop`.
    init(
        until deadline: ContinuousClock.Instant, unless isMoot: @escaping @Sendable () -> Bool,
        end: @escaping @Sendable () -> Void
    ) {
        self.deadline = deadline
        self.isMoot = isMoot
        self.end = end
    }

    func start() {
        let isWatching = CoreSet.withAll { DetachedThread.start { [self] in watch() } }
        // Without a watching thread nothing would end the question, so it is ended at once.
        if !isWatching { end() }
    }

    private func watch() {
        condition.lock()
        defer { condition.unlock() }
        while !isOver {
            // Without the lock, as the look may take long.
            condition.unlock()
            let isDue = ContinuousClock.now >= deadline || isMoot()
            condition.lock()
            guard !isOver else { return }
            if isDue { return end() }
            _ = condition.wait(until: min(deadline, .now + Self.glance))
        }
    }

    func stop() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }
}
