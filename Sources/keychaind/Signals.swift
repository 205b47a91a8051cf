// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import Synchronization

/// SIGTERM and SIGINT stop the daemon cleanly, SIGHUP makes it read its policies again; SIGPIPE
/// means nothing to it.
final class Signals {
    private struct State {
        var handlers: [Int32: @Sendable () -> Void] = [:]
        var waiting: Set<Int32> = []
    }
    private let state: Mutex<State>
    private let sources: [any DispatchSourceSignal]

    /// Returns once the signal handlers are installed. Called before the daemon makes its sockets,
    /// so that a program that reaches it can also stop it. Ignoring the signals first, as is usual,
    /// would lose one that comes in between, and the daemon would run on.
    init() {
        signal(SIGPIPE, SIG_IGN)
        state = Mutex(State())
        let heard = DispatchGroup()
        // Of their own, and none waits for another: reading policies takes its time.
        let queue = DispatchQueue(label: "signals", attributes: .concurrent)
        let numbers = [SIGTERM, SIGINT, SIGHUP]
        sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler { [unowned self] in hear(number) }
            source.setRegistrationHandler { heard.leave() }
            heard.enter()
            source.resume()
        }
        heard.wait()
    }

    /// What came before this is handled at once.
    func handle(stop: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void) {
        let handlers = [SIGTERM: stop, SIGINT: stop, SIGHUP: reload]
        let waiting = state.withLock { state in
            state.handlers = handlers
            return state.waiting
        }
        for number in waiting.sorted() { handlers[number]?() }
    }

    private func hear(_ number: Int32) {
        let handler = state.withLock { state in
            if state.handlers.isEmpty { state.waiting.insert(number) }
            return state.handlers[number]
        }
        handler?()
    }

    func end() { for source in sources { source.cancel() } }
}
