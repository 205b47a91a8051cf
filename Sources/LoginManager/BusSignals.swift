// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Tells listeners on the system bus the latest state. No request waits for the bus: where it is
/// absent, restarts or hangs, sending is retried, and a newer signal replaces one that was not sent
/// yet.
///
/// Each signal is sent on a connection of its own, so that there is none that others could send to.
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

    /// Returns at once. A text of more than 16 KiB is cut off.
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
