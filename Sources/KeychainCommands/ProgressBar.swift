// SPDX-License-Identifier: Apache-2.0
package import Terminal

/// How far a command is, on a line that it writes over: on a terminal, and only where it takes more
/// than a second.
package final class ProgressBar {
    private static let firstShown = Duration.seconds(1)
    private static let pause = Duration.milliseconds(100)
    private static let width = 24

    private let task: String
    private let total: Int?
    private let isShown: Bool
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?
    private var done = 0
    private let stream: StandardStream

    /// Without a total it counts.
    package init(_ task: String, of total: Int? = nil, on stream: StandardStream = .error) {
        self.task = task
        self.total = total
        self.stream = stream
        isShown = stream.isTerminal
    }

    package func step(_ count: Int = 1) {
        done += count
        // The clock is looked at now and then.
        guard isShown, total != nil || done % 64 == 0 || count > 1 else { return }
        let now = ContinuousClock.now
        guard now - start >= Self.firstShown, lastShown.map({ now - $0 >= Self.pause }) ?? true
        else { return }
        lastShown = now
        stream.write("\r" + Self.line(task, done, of: total))
    }

    /// Takes the line away again.
    package func end() {
        guard lastShown != nil else { return }
        lastShown = nil
        stream.write("\r\u{1B}[K")
    }

    static func line(_ task: String, _ done: Int, of total: Int?) -> String {
        guard let total, total > 0 else { return "\(task) \(done)" }
        let filled = min(width, done * width / total)
        let bar =
            String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        return "\(task) [\(bar)] \(min(100, done * 100 / total)) %"
    }
}
