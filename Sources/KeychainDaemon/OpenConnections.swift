// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLocalSocket
internal import Synchronization

/// The connections that are served now, so that a daemon that ends can answer the requests that it
/// has begun.
final class OpenConnections: Sendable {
    private struct State {
        var isFinishing = false
        var open: [ObjectIdentifier: ServerConnection] = [:]
    }
    private let state = Mutex(State())
    private let served = DispatchGroup()

    /// Runs `body`, unless `finish` was called.
    func serve(_ connection: ServerConnection, _ body: () -> Void) {
        let mayBegin = state.withLock { state in
            if !state.isFinishing {
                state.open[ObjectIdentifier(connection)] = connection
                served.enter()
            }
            return !state.isFinishing
        }
        guard mayBegin else { return }
        defer {
            state.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(connection)) }
            served.leave()
        }
        body()
    }

    /// Returns when each request that is under way has been answered. No other is received.
    func finish() {
        let connections = state.withLock { state in
            state.isFinishing = true
            return Array(state.open.values)
        }
        for connection in connections { connection.endReceiving() }
        served.wait()
    }
}
