// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLinuxSystem
internal import Synchronization

/// Work that waits for others most of the time, on some threads at once.
enum Concurrently {
    /// What comes of each element, in order. Returns when all is done.
    static func map<Element: Sendable, Result: Sendable>(
        _ elements: [Element], threads: Int,
        _ body: @escaping @Sendable (Element) -> Result
    ) -> [Result] {
        let work = Work(elements, body)
        let count = min(threads, elements.count)
        // Where the machine has no room for more threads, this one does what is left to do.
        let started = (0..<count).count { _ in DetachedThread.start { work.run() } }
        if started < count { work.run() }
        for _ in 0..<(started < count ? started + 1 : count) { work.ended.wait() }
        return work.results
    }

    private final class Work<Element: Sendable, Result: Sendable>: Sendable {
        private struct State {
            var next = 0
            var results: [Result?]
        }

        private let elements: [Element]
        private let body: @Sendable (Element) -> Result
        private let state: Mutex<State>
        /// A signal for each thread that has nothing left to do.
        let ended = DispatchSemaphore(value: 0)

        init(_ elements: [Element], _ body: @escaping @Sendable (Element) -> Result) {
            self.elements = elements
            self.body = body
            state = Mutex(State(results: elements.map { _ in nil }))
        }

        var results: [Result] { state.withLock { $0.results.compactMap(\.self) } }

        func run() {
            while let index = takeNext() {
                let result = body(elements[index])
                state.withLock { $0.results[index] = result }
            }
            ended.signal()
        }

        private func takeNext() -> Int? {
            state.withLock { state in
                guard state.next < elements.count else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }
    }
}
