// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
package import KeychainLocalSocket
internal import Synchronization

/// Connections that keychaind has accepted and passed to this process, in order.
package final class PassedConnections: ConnectionSource {
    private struct State {
        var waiting: [IncomingConnection] = []
        var isShutDown = false
    }
    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func add(_ connection: IncomingConnection) {
        state.withLock { $0.waiting.append(connection) }
        arrived.signal()
    }

    package func next() throws(SocketError) -> IncomingConnection {
        while true {
            arrived.wait()
            let (next, isShutDown) = state.withLock { state in
                let next =
                    state.isShutDown || state.waiting.isEmpty
                    ? nil : state.waiting.removeFirst()
                return (next, state.isShutDown)
            }
            if isShutDown { throw .closed }
            if let next { return next }
        }
    }

    package func shutDown() {
        let left = state.withLock { state in
            state.isShutDown = true
            defer { state.waiting = [] }
            return state.waiting
        }
        arrived.signal()
        withExtendedLifetime(left) {}
    }
}
