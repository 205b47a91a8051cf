// SPDX-License-Identifier: Apache-2.0
internal import MessageBus
internal import Synchronization

/// What other threads have for the one that has the connection.
final class Inbox: Sendable {
    private let waiting = Mutex<[@Sendable (Bridge) -> Void]>([])
    let wake: BusWake

    init(wake: BusWake) { self.wake = wake }

    func post(_ work: @escaping @Sendable (Bridge) -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        if isFirst { wake.wake() }
    }

    func take() -> [@Sendable (Bridge) -> Void] {
        waiting.withLock { waiting in
            let taken = waiting
            waiting.removeAll()
            return taken
        }
    }
}
