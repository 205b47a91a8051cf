// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLinuxSystem
internal import Synchronization
package import Terminal

/// How far a command is, on a line that it writes over: on a terminal, and only where it takes more
/// than a second.
package final class ProgressBar: Sendable {
    /// Who draws it.
    package enum Drawing: Sendable {
        /// The command, at a step: so it writes nothing over a question to the user.
        case atSteps
        /// A thread of its own, also within a step that is long; for commands that ask nothing.
        case byItself
    }

    private struct State {
        var done = 0
        var lastShown: ContinuousClock.Instant?
        var hasEnded = false
    }

    private static let firstShown = Duration.seconds(1)
    private static let pause = Duration.milliseconds(100)
    private static let width = 24

    private let task: String
    private let total: Int?
    private let isShown: Bool
    private let start = ContinuousClock.now
    private let stream: StandardStream
    // Its lock is held while the line is written, so that nothing is drawn behind `end`.
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    /// Without a total it counts; without steps, seconds.
    package init(
        _ task: String, of total: Int? = nil, on stream: StandardStream = .error,
        drawn drawing: Drawing = .atSteps
    ) {
        self.task = task
        self.total = total
        self.stream = stream
        isShown = stream.isTerminal
        guard isShown, drawing == .byItself else { return }
        // Where the machine has no room for a thread, it is drawn at steps.
        _ = DetachedThread.start { [self] in drawWhileItLasts() }
    }

    package func step(_ count: Int = 1) {
        state.withLock { state in
            state.done += count
            // The clock is looked at now and then.
            guard isShown, total != nil || state.done % 64 == 0 || count > 1 else { return }
            let now = ContinuousClock.now
            guard now - start >= Self.firstShown,
                state.lastShown.map({ now - $0 >= Self.pause }) ?? true
            else { return }
            draw(&state, now)
        }
    }

    /// Takes the line away again.
    package func end() {
        state.withLock { state in
            state.hasEnded = true
            guard state.lastShown != nil else { return }
            state.lastShown = nil
            stream.write("\r\u{1B}[K")
        }
        ended.signal()
    }

    private func drawWhileItLasts() {
        while ended.wait(timeout: .now() + 1) == .timedOut {
            state.withLock { state in
                if !state.hasEnded { draw(&state, .now) }
            }
        }
    }

    private func draw(_ state: inout State, _ now: ContinuousClock.Instant) {
        state.lastShown = now
        stream.write("\r" + Self.line(task, state.done, of: total, after: now - start))
    }

    static func line(
        _ task: String, _ done: Int, of total: Int?, after time: Duration
    ) -> String {
        guard let total, total > 0 else {
            return done > 0 ? "\(task) \(done)" : "\(task), \(time.components.seconds) s"
        }
        let filled = min(width, done * width / total)
        let bar =
            String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "\(task) [\(bar)] \(min(100, done * 100 / total)) %"
    }
}
