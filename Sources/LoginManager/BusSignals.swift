// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Tells listeners on the system's bus how something stands. No request waits for the bus: one
/// that is absent, restarts or hangs is tried again, and what was to be told meanwhile gives way to
/// what is told last.
///
/// Each signal comes from a connection of its own, so there is none to which others could send.
package final class BusSignals: Sendable {
    private static let pause: DispatchTimeInterval = .seconds(2)
    private static let longest = 16_384

    private struct Signal: Equatable {
        let member: String
        let text: String
    }
    private struct State {
        var untold: Signal?
        var isTrying = false

        mutating func next() -> Signal? {
            isTrying = untold != nil
            return untold
        }
    }

    private let path: String
    private let interface: String
    private let queue = DispatchQueue(label: "bus signals")
    private let state = Mutex(State())

    package init(path: String, interface: String) {
        self.path = path
        self.interface = interface
    }

    /// Comes back at once. What is longer than 16 KiB is cut off.
    package func tell(_ member: String, _ text: String) {
        let told = String(decoding: text.utf8.prefix(Self.longest), as: UTF8.self)
        let mustTry = state.withLock { state in
            state.untold = Signal(member: member, text: told)
            defer { state.isTrying = true }
            return !state.isTrying
        }
        if mustTry { queue.async { self.send() } }
    }

    private func send() {
        while let signal = state.withLock({ $0.next() }) {
            guard let bus = SystemBus(), bus.emit(path, interface, signal.member, signal.text)
            else {
                queue.asyncAfter(deadline: .now() + Self.pause) { self.send() }
                return
            }
            state.withLock { if $0.untold == signal { $0.untold = nil } }
        }
    }
}
