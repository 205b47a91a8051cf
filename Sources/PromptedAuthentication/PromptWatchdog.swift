// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Ends a question when its time is up or the client no longer waits for the answer.
final class PromptWatchdog: @unchecked Sendable {
    private static let glance: TimeInterval = 0.2

    private let deadline: Date
    private let isMoot: @Sendable () -> Bool
    private let end: @Sendable () -> Void
    private let condition = NSCondition()
    private var isOver = false

    /// `end` is called once at most, and never after `stop`.
    init(
        until deadline: Date, unless isMoot: @escaping @Sendable () -> Bool,
        end: @escaping @Sendable () -> Void
    ) {
        self.deadline = deadline
        self.isMoot = isMoot
        self.end = end
    }

    func start() {
        let thread = Thread { [self] in
            condition.lock()
            defer { condition.unlock() }
            while !isOver {
                if Date() >= deadline || isMoot() {
                    end()
                    return
                }
                let next = Date(timeIntervalSinceNow: Self.glance)
                _ = condition.wait(until: min(deadline, next))
            }
        }
        thread.start()
    }

    func stop() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }
}
