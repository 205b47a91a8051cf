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
    /// It comes from the PAM module, and may skip a pause.
    var isLogin = false
}

/// The reports by which a worker has all others told something: one every two seconds, by a worker
/// that works as it should.
private struct Pace {
    private static let most = 10.0
    private var left = most
    private var asOf = ContinuousClock.now

    mutating func allowsOne() -> Bool {
        let now = ContinuousClock.now
        left = min(Self.most, left + asOf.duration(to: now) / .seconds(1)) - 1
        asOf = now
        return left >= 0
    }
}

/// keychaind's end of one worker: from its start to its end, by one thread.
final class Worker: Sendable {
    /// The most connections of a user that no worker has taken yet: descriptors on their way count
    /// for root, and a worker that is stopped must not take them all.
    static let mostOnTheirWay = 16
    /// Copies leave room for the user's own connections, and these for logins, while it starts.
    private static let mostCopiesOnTheirWay = 8
    private static let mostWithLogins = 24
    /// The most orders that wait for a worker's start.
    private static let mostWaiting = 512
    /// A start takes a tenth of a second. One that takes long on a machine with much to do must not be
    /// given up: the next one would take as long, and make the machine busier still.
    private static let patienceForStart: Duration = .seconds(30)
    private static let stackBytes = 256 * 1024

    private enum Phase {
        case starting
        case running(RecordConnection)
        /// It was told to end. Its last requests still wait for answers of keychaind's, without which they
        /// are cut off.
        case ending(RecordConnection)
        /// It has ended.
        case over
        /// Another one serves its user from here on.
        case gone
    }
    /// What has become of a connection.
    enum Passing {
        case passed
        /// There is no room for it.
        case refused
        /// Another worker may take it.
        case gone
    }
    private struct State {
        var phase = Phase.starting
        /// Connections for the start, and after the end for the next worker.
        var connections: [PassedConnection] = []
        var orders: [Handover] = []
        var passed: UInt32 = 0
        var taken: UInt32 = 0
        var hasSupplies = false
        var isAskedToEnd = false
        var process: Descriptor?
    }

    /// How a worker ended.
    struct End {
        /// Whether keychaind had told it to.
        let wasTold: Bool
        let lasted: Duration
        /// Why it ended by itself; nil where that has been told already.
        let why: String?
        /// Its process, which may be there still: the channel alone has ended. nil where it has told none.
        let process: Descriptor?
    }

    let user: UInt32
    private let state: Mutex<State>
    /// Signalled to end the pause.
    private let hurry = DispatchSemaphore(value: 0)

    init(_ user: UInt32, _ connections: [PassedConnection]) {
        self.user = user
        var state = State()
        state.connections = connections
        self.state = Mutex(state)
    }

    func pass(_ connection: PassedConnection) -> Passing {
        let most = connection.socket == nil ? Self.mostCopiesOnTheirWay : Self.mostOnTheirWay
        return state.withLock { state in
            switch state.phase {
            case .running(let channel):
                guard state.passed &- state.taken < UInt32(most) else { return .refused }
                do throws(SocketError) {
                    return try Self.send(connection, channel, &state) ? .passed : .refused
                } catch {
                    // The process has just ended, and its thread is about to see it.
                    return Self.keep(connection, most, &state)
                }
            case .starting, .ending, .over: return Self.keep(connection, most, &state)
            case .gone: return .gone
            }
        }
    }

    /// Keeps the connection for the start, or for the next worker.
    private static func keep(
        _ connection: PassedConnection, _ most: Int, _ state: inout State
    ) -> Passing {
        guard state.connections.count < (connection.isLogin ? mostWithLogins : most) else {
            return .refused
        }
        state.connections.append(connection)
        return .passed
    }

    /// Gives the connections that the next worker is to take: they came while it started, or after its
    /// end.
    func leave() -> [PassedConnection] {
        state.withLock { state in
            state.phase = .gone
            defer { state.connections = [] }
            return state.connections
        }
    }

    /// Returns false where the worker takes no more now; throws where it is gone.
    private static func send(
        _ connection: PassedConnection, _ channel: RecordConnection, _ state: inout State
    ) throws(SocketError) -> Bool {
        for part in connection.orders {
            guard try channel.offer(part.order.bytes, passing: part.passed) else { return false }
        }
        state.passed &+= 1
        return true
    }

    /// Returns false where the worker takes no more.
    private static func offer(_ orders: [Handover], _ channel: RecordConnection) -> Bool {
        orders.allSatisfy { (try? channel.offer($0.order.bytes, passing: $0.passed)) == true }
    }

    /// A worker that can't be told something has stopped, and is given up.
    func tell(_ orders: [Handover]) {
        state.withLock { state in
            switch state.phase {
            case .starting:
                guard state.orders.count < Self.mostWaiting else { return }
                state.orders += orders
            case .running(let channel):
                if !Self.offer(orders, channel) { channel.hangUp() }
            case .ending(let channel): _ = Self.offer(orders, channel)
            case .over, .gone: break
            }
        }
    }

    /// Ends the pause before the start.
    func startNow() { hurry.signal() }

    /// Whether it was started without a connection, and has had none since.
    var isForUpkeep: Bool { state.withLock { $0.passed == 0 && $0.connections.isEmpty } }

    /// Whether it runs and takes orders.
    var isRunning: Bool {
        state.withLock { if case .running = $0.phase { true } else { false } }
    }

    /// Whether its process may hold keys: it has been given them, and has not ended.
    var mayHoldKeys: Bool {
        state.withLock { state in
            switch state.phase {
            case .starting: state.hasSupplies
            case .running, .ending: true
            case .over, .gone: false
            }
        }
    }

    func end() {
        state.withLock { state in
            state.isAskedToEnd = true
            guard case .running(let channel) = state.phase else { return }
            Self.end(channel, &state)
        }
        hurry.signal()
    }

    private static func end(_ channel: RecordConnection, _ state: inout State) {
        state.phase = .ending(channel)
        if !offer([Handover(.end)], channel) { channel.hangUp() }
    }

    /// Ends it, unless a connection is on its way to it.
    private func endIfIdle(after taken: UInt32) {
        state.withLock { state in
            guard case .running(let channel) = state.phase, state.passed == taken else { return }
            state.isAskedToEnd = true
            Self.end(channel, &state)
        }
    }

    // MARK: Its thread

    /// Starts the worker after the pause, with what `supplies` gives; nil starts none. `handle` gets
    /// what the worker reports. `ended` is called once, at the end.
    func start(
        at socket: String, after pause: Duration, _ supplies: @escaping @Sendable () -> [Handover]?,
        handle: @escaping @Sendable (WorkerReport, Descriptor?) -> Void,
        ended: @escaping @Sendable (End) -> Void
    ) {
        let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
            if pause > .zero { _ = hurry.wait(timeout: .now() + pause / .seconds(1)) }
            let begun = ContinuousClock.now
            state.withLock { $0.hasSupplies = true }
            guard let supplies = supplies() else { return ended(over(since: begun, nil)) }
            do throws(SocketError) { try run(socket, supplies, handle) } catch {
                ended(over(since: begun, "\(error)"))
            }
        }
        if !hasBegun { ended(over(since: .now, "there is no thread for it")) }
    }

    private func over(since begun: ContinuousClock.Instant, _ why: String?) -> End {
        state.withLock { state in
            state.phase = .over
            defer { state.process = nil }
            return End(
                wasTold: state.isAskedToEnd, lasted: begun.duration(to: .now), why: why,
                process: state.process)
        }
    }

    private func run(
        _ socket: String, _ supplies: [Handover],
        _ handle: (WorkerReport, Descriptor?) -> Void
    ) throws(SocketError) -> Never {
        let channel = try RecordConnection(path: socket)
        try channel.takeDescriptors()
        for part in supplies {
            try channel.send(part.order.bytes, passing: part.passed, within: Self.patienceForStart)
        }
        var isReady = false
        var pace = Pace()
        while true {
            let (report, passed) = try receive(
                channel, within: isReady ? nil : Self.patienceForStart)
            switch report {
            case .busy where !pace.allowsOne(): throw .malformed
            case .ready where !isReady:
                isReady = true
                state.withLock { $0.process = ProcessDescriptor.checked(passed) }
                try begin(on: channel)
            case .took: state.withLock { $0.taken &+= 1 }
            case .idle(let taken): endIfIdle(after: taken)
            default: handle(report, passed)
            }
        }
    }

    /// Sends the orders that waited for the start, of which a socket may not hold all at once. From then
    /// on orders go to the worker at once.
    private func begin(on channel: RecordConnection) throws(SocketError) {
        while true {
            let (orders, isTold) = state.withLock { state -> ([Handover], Bool) in
                guard state.orders.isEmpty else {
                    defer { state.orders = [] }
                    return (state.orders, true)
                }
                if state.isAskedToEnd {
                    Self.end(channel, &state)
                    return ([], true)
                }
                state.phase = .running(channel)
                // What can't be passed is the next one's.
                while let first = state.connections.first {
                    guard (try? Self.send(first, channel, &state)) == true else {
                        return ([], false)
                    }
                    state.connections.removeFirst()
                }
                return ([], true)
            }
            guard isTold else { throw .closed }
            if orders.isEmpty { return }
            for part in orders {
                try channel.send(
                    part.order.bytes, passing: part.passed, within: Self.patienceForStart)
            }
        }
    }

    private func receive(
        _ channel: RecordConnection, within time: Duration?
    ) throws(SocketError) -> (report: WorkerReport, passed: Descriptor?) {
        let (bytes, passed) = try channel.receivePassed(
            limit: WorkerReport.byteCount, within: time)
        do { return (try WorkerReport(bytes), passed) } catch { throw .malformed }
    }
}
