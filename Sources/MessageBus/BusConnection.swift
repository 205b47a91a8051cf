// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc
internal import KeychainLinuxSystem

/// Why a connection could not be made.
package enum BusFailure: Error, Equatable, Sendable {
    /// There is no answer at the address, or not a bus's answer.
    case unreachable
}

/// A connection to a user's bus, for one thread, which waits only in `wait`.
///
/// Nothing is registered with the library: `next` returns every message, calls and replies alike.
/// Only `org.freedesktop.DBus.Peer` is answered by the library itself. It writes to the bus's
/// socket, and reads what `BusInlet` gives it.
@safe package final class BusConnection {
    package enum Next {
        case message(BusMessage)
        /// A step was done, and there may be more.
        case progress
        /// There is nothing to do until `wait` returns.
        case idle
        case closed
        /// The library's error number; the connection can't be used any more.
        case failed(Int32)
    }

    package static let itself = "org.freedesktop.DBus"
    private static let greeting: Duration = .seconds(10)

    private let bus: OpaquePointer
    private let inlet: BusInlet
    /// Whether the library has read all that it was given.
    private var hasRead = true

    /// The connection that may pass descriptors; nil for none.
    package var descriptorSender: String? {
        get { inlet.descriptorSender }
        set { inlet.descriptorSender = newValue }
    }

    /// Connects and waits for the bus's greeting. Of what programs attach to their messages, the one
    /// descriptor of a call of `descriptorSender` to `descriptorMember` is taken, and no other.
    package init(address: String, descriptorMember: String? = nil) throws(BusFailure) {
        let socket = try BusSocket.connect(address)
        let (input, library) = try BusConnection.pair()
        let output = fcntl(socket.number, F_DUPFD_CLOEXEC, 3)
        guard output >= 0 else {
            Glibc.close(input)
            throw .unreachable
        }
        inlet = BusInlet(bus: socket, library: library, descriptorMember: descriptorMember)
        var made: OpaquePointer?
        // Safe: the library makes the object, which is freed at the end.
        guard unsafe sd_bus_new(&made) >= 0, let made = unsafe made else {
            for number in [input, output] { Glibc.close(number) }
            throw .unreachable
        }
        unsafe bus = made
        // Safe, all of these: the object lives, and owns both descriptors from here on.
        guard unsafe sd_bus_set_fd(bus, input, output) >= 0,
            unsafe sd_bus_set_bus_client(bus, 1) >= 0,
            unsafe sd_bus_negotiate_fds(bus, 1) >= 0,
            unsafe sd_bus_start(bus) >= 0
        else { throw .unreachable }
        let deadline = ContinuousClock.now + Self.greeting
        while unsafe sd_bus_is_ready(bus) == 0 {
            guard ContinuousClock.now < deadline else { throw .unreachable }
            switch next() {
            case .idle: wait(until: deadline, or: nil)
            case .closed, .failed: throw .unreachable
            case .message, .progress: continue
            }
        }
        guard unsafe sd_bus_is_ready(bus) > 0 else { throw .unreachable }
    }

    /// The end that the library reads from, which it will own, and the other one.
    private static func pair() throws(BusFailure) -> (input: Int32, library: Descriptor) {
        let type =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        var numbers: [Int32] = [-1, -1]
        // Safe: writes two numbers.
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw .unreachable }
        return (numbers[0], Descriptor(owning: numbers[1]))
    }

    // Safe: gives back the one reference that `init` made; the messages hold their own.
    deinit { unsafe _ = sd_bus_close_unref(bus) }

    /// Reads or writes at most one message, without waiting.
    package func next() -> Next {
        if hasRead, inlet.pass() { hasRead = false }
        if hasRead, unwritten == 0, isReady { return .idle }
        var message: OpaquePointer?
        // Safe: the library gives a reference away with the message.
        let processed = unsafe sd_bus_process(bus, &message)
        if let message = unsafe message {
            let message = unsafe BusMessage(owning: message)
            // The library is given one at a time, so that was the last.
            hasRead = true
            message.brought = inlet.takeBrought(serial: message.serial, sender: message.sender)
            message.wholeBytes = inlet.messageBytes
            return .message(message)
        }
        switch -processed {
        case ..<0: return .progress
        case 0:
            let isIdle = hasRead
            hasRead = true
            return isIdle ? .idle : .progress
        case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN: return .closed
        case let error: return .failed(error)
        }
    }

    // Safe: only asks.
    private var isReady: Bool { unsafe sd_bus_is_ready(bus) > 0 }

    /// The reasons for which a wait ended.
    package struct Ready {
        /// The bus can be read or written; true also where that is unknown.
        package var bus = true
        /// The other descriptors that can be read, or have ended.
        package var others: [Int32] = []
    }

    /// Waits until there is something to read or write, the deadline has passed, the wake was
    /// called, or one of the other descriptors can be read.
    @discardableResult
    package func wait(
        until deadline: ContinuousClock.Instant?, or wake: BusWake?, _ others: [Int32] = []
    ) -> Ready {
        // Safe: the structures are this function's own, and as many as the count says.
        let events = unsafe sd_bus_get_events(bus)
        guard events >= 0 else { return Ready() }
        var items = [
            pollfd(fd: inlet.number, events: Int16(truncatingIfNeeded: events), revents: 0)
        ]
        items += others.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if let wake { items.append(pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0)) }
        let count = unsafe poll(&items, nfds_t(items.count), milliseconds(until: deadline))
        guard count >= 0 else { return Ready() }
        if let wake, items[items.count - 1].revents != 0 { wake.clear() }
        return Ready(
            bus: items[0].revents != 0,
            others: zip(others, items.dropFirst()).filter { $1.revents != 0 }.map(\.0))
    }

    /// Waits until queued messages can be written; returns false where something else came first.
    package func waitUntilWritable(
        until deadline: ContinuousClock.Instant, or wake: BusWake
    ) -> Bool {
        var items = [
            pollfd(fd: inlet.number, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
        ]
        // Safe: as above.
        _ = unsafe poll(&items, 2, milliseconds(until: deadline))
        wake.clear()
        return items[0].revents != 0
    }

    /// The number of messages that the bus has not accepted yet.
    package var unwritten: Int {
        var count: UInt64 = 0
        // Safe: the number is this function's own.
        guard unsafe sd_bus_get_n_queued_write(bus, &count) >= 0 else { return 0 }
        return Int(clamping: count)
    }

    /// A call, to be filled and sent.
    package func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String
    ) -> BusMessage? {
        var made: OpaquePointer?
        // Safe: the library makes the message and gives the reference away.
        guard
            unsafe sd_bus_message_new_method_call(
                bus, &made, destination, path, interface, member) >= 0, let made = unsafe made
        else { return nil }
        let message = unsafe BusMessage(owning: made)
        message.startsNothing()
        return message
    }

    /// A call to the bus itself.
    package func callToItself(_ member: String) -> BusMessage? {
        call(Self.itself, "/org/freedesktop/DBus", Self.itself, member)
    }

    /// A signal: to one connection, or to all that listen for it.
    package func signal(
        _ path: String, _ interface: String, _ member: String, to destination: String?
    ) -> BusMessage? {
        var made: OpaquePointer?
        // Safe: as in `call`.
        guard unsafe sd_bus_message_new_signal(bus, &made, path, interface, member) >= 0,
            let made = unsafe made
        else { return nil }
        let message = unsafe BusMessage(owning: made)
        guard let destination else { return message }
        return message.isDestined(to: destination) ? message : nil
    }

    /// Queues the message; returns nil where it can't be sent. The returned number is in the
    /// replies to a call.
    @discardableResult
    package func send(_ message: BusMessage) -> UInt64? {
        var cookie: UInt64 = 0
        // Safe: the message is alive for the call, and the library takes a reference of its own.
        let isSent = unsafe message.withPointer { unsafe sd_bus_send(bus, $0, &cookie) >= 0 }
        return isSent ? cookie : nil
    }

    private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        var least = deadline.map { Self.milliseconds(from: .now, to: $0) } ?? -1
        var own: UInt64 = 0
        // Safe: the number is this function's own.
        if unsafe sd_bus_get_timeout(bus, &own) > 0, own != .max {
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            let now = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
            let left = Int32(clamping: own > now ? (own - now) / 1000 + 1 : 0)
            least = least < 0 ? left : min(least, left)
        }
        return least
    }

    private static func milliseconds(
        from now: ContinuousClock.Instant, to deadline: ContinuousClock.Instant
    ) -> Int32 {
        let left = now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let parts = left.components
        return Int32(
            clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
