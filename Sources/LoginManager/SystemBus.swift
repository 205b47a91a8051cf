// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// A connection to the system bus, for one thread. The environment does not decide its address.
@safe final class SystemBus {
    enum Next {
        case message(BusMessage)
        case nothing
        case broken
    }

    static let itself = "org.freedesktop.DBus"
    private static let address = "unix:path=/run/dbus/system_bus_socket"
    private static let patience: UInt64 = 5_000_000

    private let bus: OpaquePointer

    /// nil where there is no bus, or it does not answer.
    init?() {
        var made: OpaquePointer?
        // Safe: the library makes the object, which is freed at the end.
        guard unsafe sd_bus_new(&made) >= 0, let made = unsafe made else { return nil }
        unsafe bus = made
        guard unsafe sd_bus_set_address(bus, Self.address) >= 0,
            unsafe sd_bus_set_bus_client(bus, 1) >= 0,
            unsafe sd_bus_negotiate_fds(bus, 1) >= 0,
            unsafe sd_bus_set_method_call_timeout(bus, Self.patience) >= 0,
            unsafe sd_bus_start(bus) >= 0, isGreeted()
        else { return nil }
    }

    // Safe: gives back the one reference that `init` made; the messages hold their own.
    deinit { unsafe _ = sd_bus_close_unref(bus) }

    private func isGreeted() -> Bool {
        let deadline = ContinuousClock.now + .microseconds(Self.patience)
        // Safe: the bus is open as long as this object lives.
        while unsafe sd_bus_is_ready(bus) == 0 {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero, case .nothing = next(within: left) else { return false }
        }
        return true
    }

    /// The next message that is no reply. `.nothing` may come early.
    func next(within patience: Duration) -> Next {
        var message: OpaquePointer?
        // Safe: the library gives a reference away with the message.
        let processed = unsafe sd_bus_process(bus, &message)
        if let message = unsafe message { return unsafe .message(BusMessage(owning: message)) }
        guard processed >= 0 else { return .broken }
        if processed > 0 { return .nothing }
        let left = patience.components
        let microseconds =
            UInt64(left.seconds) * 1_000_000 + UInt64(left.attoseconds / 1_000_000_000_000)
        let woken = unsafe sd_bus_wait(bus, microseconds)
        return woken >= 0 || woken == -EINTR ? .nothing : .broken
    }

    /// nil where the answer is an error, or does not come in time. Never starts a service.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: String...
    ) -> BusMessage? {
        var made: OpaquePointer?
        // Safe: as in `next`.
        guard
            unsafe sd_bus_message_new_method_call(
                bus, &made, destination, path, interface, member) >= 0, let made = unsafe made
        else { return nil }
        let question = unsafe BusMessage(owning: made)
        for argument in arguments where !question.append(argument) { return nil }
        var answer: OpaquePointer?
        let result = unsafe question.withPointer { question in
            unsafe sd_bus_message_set_auto_start(question, 0) < 0
                ? -1 : unsafe sd_bus_call(bus, question, 0, nil, &answer)
        }
        guard let answer = unsafe answer else { return nil }
        let message = unsafe BusMessage(owning: answer)
        return result >= 0 && !message.isError ? message : nil
    }

    /// Sends a signal to all listeners; false where the bus did not confirm it.
    func emit(_ path: String, _ interface: String, _ member: String, _ text: String) -> Bool {
        var made: OpaquePointer?
        // Safe: as in `next`.
        guard unsafe sd_bus_message_new_signal(bus, &made, path, interface, member) >= 0,
            let made = unsafe made
        else { return false }
        let signal = unsafe BusMessage(owning: made)
        guard signal.append(text) else { return false }
        let isSent = unsafe signal.withPointer { unsafe sd_bus_send(bus, $0, nil) >= 0 }
        // A bus handles the messages of one connection in order, so a reply confirms the signal.
        return isSent && answers()
    }

    /// Subscribes to messages that match the rule (D-Bus specification, Match Rules).
    func subscribe(_ rule: String) -> Bool {
        call(Self.itself, "/org/freedesktop/DBus", Self.itself, "AddMatch", rule) != nil
    }

    /// The unique name of the connection that owns the name now.
    func owner(of name: String) -> String? {
        call(Self.itself, "/org/freedesktop/DBus", Self.itself, "GetNameOwner", name)?.string()
    }

    func answers() -> Bool { owner(of: Self.itself) != nil }
}
