// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization
internal import WorkerHandoff

/// A connection on its way to a worker.
struct PassedConnection: Sendable {
    /// nil for a copy, of a connection that another worker serves.
    let socket: PassedSocket?
    let orders: [Handover]
}

/// keychaind's end of one worker: from its start to its end, by one thread.
final class Worker: Sendable {
    /// The most connections of a user that no worker has taken yet: descriptors on their way count
    /// for root, and a worker that is stopped must not take them all.
    static let mostOnTheirWay = 16
    /// The most orders that wait for a worker's start.
    private static let mostWaiting = 512
    private static let patience: Duration = .seconds(5)
    private static let stackBytes = 256 * 1024

    private enum Phase {
        case starting
        case running(RecordConnection)
        /// It was told to end, or has ended.
        case over
    }
    private struct State {
        var phase = Phase.starting
        /// Connections for the start, and after the end for the next worker.
        var connections: [PassedConnection] = []
        var orders: [Handover] = []
        var passed: UInt32 = 0
        var taken: UInt32 = 0
        var isAskedToEnd = false
    }

    /// How a worker ended.
    struct End {
        /// Whether keychaind had told it to.
        let wasTold: Bool
        let lasted: Duration
        /// They came after it was told to end, or while it started.
        let connections: [PassedConnection]
        /// nil where it could not be started for want of a thread.
        let error: SocketError?
    }

    let user: UInt32
    private let state: Mutex<State>
    /// Signalled to end the pause before the start.
    private let hurry = DispatchSemaphore(value: 0)

    init(_ user: UInt32, _ connections: [PassedConnection]) {
        self.user = user
        var state = State()
        state.connections = connections
        self.state = Mutex(state)
    }

    /// Returns false where there is no room for it.
    func pass(_ connection: PassedConnection) -> Bool {
        state.withLock { state in
            guard case .running(let channel) = state.phase else {
                guard state.connections.count < Self.mostOnTheirWay else { return false }
                state.connections.append(connection)
                return true
            }
            guard state.passed &- state.taken < UInt32(Self.mostOnTheirWay) else { return false }
            return Self.send(connection, channel, &state)
        }
    }

    private static func send(
        _ connection: PassedConnection, _ channel: RecordConnection, _ state: inout State
    ) -> Bool {
        for part in connection.orders {
            guard (try? channel.offer(part.order.bytes, passing: part.passed)) == true else {
                return false
            }
        }
        state.passed &+= 1
        return true
    }

    /// A worker that can't be told something has stopped, and is given up.
    func tell(_ orders: [Handover]) {
        state.withLock { state in
            switch state.phase {
            case .starting:
                guard state.orders.count < Self.mostWaiting else { return }
                state.orders += orders
            case .running(let channel):
                let isTold = orders.allSatisfy { part in
                    (try? channel.offer(part.order.bytes, passing: part.passed)) == true
                }
                if !isTold { channel.hangUp() }
            case .over: break
            }
        }
    }

    /// Whether it was started without a connection, and has had none since.
    var isForUpkeep: Bool { state.withLock { $0.passed == 0 && $0.connections.isEmpty } }

    /// Whether it runs and takes orders.
    var isRunning: Bool {
        state.withLock { if case .running = $0.phase { true } else { false } }
    }

    func end() {
        state.withLock { state in
            state.isAskedToEnd = true
            guard case .running(let channel) = state.phase else { return }
            if (try? channel.offer(WorkerOrder.end.bytes, passing: nil)) != true {
                channel.hangUp()
            }
            state.phase = .over
        }
        hurry.signal()
    }

    /// Ends it, unless a connection is on its way to it.
    private func endIfIdle(after taken: UInt32) {
        state.withLock { state in
            guard case .running(let channel) = state.phase, state.passed == taken else { return }
            state.isAskedToEnd = true
            state.phase = .over
            _ = try? channel.offer(WorkerOrder.end.bytes, passing: nil)
        }
    }

    // MARK: Its thread

    /// Starts it after the pause, with what `supplies` gives, unless that is nil. `handle` gets what it reports, `ended` is called at last.
    func start(
        at socket: String, after pause: Duration, _ supplies: @escaping @Sendable () -> [Handover]?,
        handle: @escaping @Sendable (WorkerReport, Descriptor?) -> Void,
        ended: @escaping @Sendable (End) -> Void
    ) {
        let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
            if pause > .zero { _ = hurry.wait(timeout: .now() + pause / .seconds(1)) }
            let begun = ContinuousClock.now
            do throws(SocketError) { try run(socket, supplies, handle) } catch {
                ended(over(since: begun, error))
            }
        }
        if !hasBegun { ended(over(since: .now, nil)) }
    }

    private func over(since begun: ContinuousClock.Instant, _ error: SocketError?) -> End {
        state.withLock { state in
            state.phase = .over
            defer { state.connections = [] }
            return End(
                wasTold: state.isAskedToEnd, lasted: begun.duration(to: .now),
                connections: state.connections, error: error)
        }
    }

    private func run(
        _ socket: String, _ supplies: () -> [Handover]?,
        _ handle: (WorkerReport, Descriptor?) -> Void
    ) throws(SocketError) -> Never {
        guard let supplies = supplies() else { throw .peerNotAllowed }
        let channel = try RecordConnection(path: socket)
        try channel.takeDescriptors()
        for part in supplies {
            try channel.send(part.order.bytes, passing: part.passed, within: Self.patience)
        }
        var isReady = false
        while true {
            let (report, passed) = try receive(channel, within: isReady ? nil : Self.patience)
            switch report {
            case .ready where !isReady:
                isReady = true
                try begin(on: channel)
            case .took: state.withLock { $0.taken &+= 1 }
            case .idle(let taken): endIfIdle(after: taken)
            default: handle(report, passed)
            }
        }
    }

    /// From now on orders go to it at once.
    private func begin(on channel: RecordConnection) throws(SocketError) {
        let isTold = state.withLock { state in
            state.phase = .running(channel)
            if state.isAskedToEnd { state.orders.append(Handover(.end)) }
            let orders = state.orders.allSatisfy { part in
                (try? channel.offer(part.order.bytes, passing: part.passed)) == true
            }
            state.orders = []
            let connections = state.connections.allSatisfy { Self.send($0, channel, &state) }
            state.connections = []
            return orders && connections
        }
        guard isTold else { throw .closed }
    }

    private func receive(
        _ channel: RecordConnection, within time: Duration?
    ) throws(SocketError) -> (report: WorkerReport, passed: Descriptor?) {
        let (bytes, passed) = try channel.receivePassed(
            limit: WorkerReport.byteCount, within: time)
        do { return (try WorkerReport(bytes), passed) } catch { throw .malformed }
    }
}
