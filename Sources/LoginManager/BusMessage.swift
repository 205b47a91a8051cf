// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// A message of a bus, read from front to back by one thread.
@safe final class BusMessage {
    private let message: OpaquePointer

    /// Takes over the caller's reference.
    // Safe: only stores the pointer, whose reference is this object's from now on.
    init(owning message: OpaquePointer) { unsafe self.message = message }

    // Safe: gives back the one reference that `init` took over.
    deinit { unsafe _ = sd_bus_message_unref(message) }

    // Safe: the texts belong to the message, and are copied.
    var sender: String? {
        unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
    }
    // Safe: as above, a text of the message's own, copied while the message lives.
    var path: String? { unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) } }
    var interface: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) }
    }
    var member: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) }
    }
    // Safe: the message is alive; a nil name asks for any error.
    var isError: Bool { unsafe sd_bus_message_is_method_error(message, nil) > 0 }

    // MARK: Reading; nil for a value of another type

    func string() -> String? { text("s") }

    func objectPath() -> String? { text("o") }

    func bool() -> Bool? {
        var value: Int32 = 0
        // Safe: a boolean is written as an int.
        return unsafe sd_bus_message_read_basic(message, Self.type("b"), &value) > 0
            ? value != 0 : nil
    }

    func uint32() -> UInt32? {
        var value: UInt32 = 0
        // Safe: the type says how much is written.
        return unsafe sd_bus_message_read_basic(message, Self.type("u"), &value) > 0 ? value : nil
    }

    /// A copy of the descriptor, which the caller owns.
    func descriptor() -> Int32? {
        var value: Int32 = -1
        // Safe: as above; what is read belongs to the message.
        guard unsafe sd_bus_message_read_basic(message, Self.type("h"), &value) > 0 else {
            return nil
        }
        let own = fcntl(value, F_DUPFD_CLOEXEC, 3)
        return own >= 0 ? own : nil
    }

    /// Reads the elements of an array with `body`, as long as that returns true; returns false
    /// where the value is no array.
    @discardableResult
    func each(_ contents: String, _ body: () -> Bool) -> Bool {
        guard enter("a", contents) else { return false }
        // Safe: the message is alive, and only its reading position is looked at.
        while unsafe sd_bus_message_at_end(message, 0) == 0 { guard body() else { return false } }
        return leave()
    }

    func structure(_ contents: String, _ body: () -> Bool) -> Bool {
        within("r", contents, body)
    }

    /// One entry of a dictionary.
    func entry(_ contents: String, _ body: () -> Bool) -> Bool { within("e", contents, body) }

    func variant(_ contents: String, _ body: () -> Bool) -> Bool { within("v", contents, body) }

    @discardableResult
    // Safe: the message is alive; the text of types is passed for the call alone.
    func skip(_ types: String) -> Bool { unsafe sd_bus_message_skip(message, types) > 0 }

    // MARK: Writing

    @discardableResult
    func append(_ text: String) -> Bool {
        // Safe: copies the text.
        unsafe text.withCString {
            unsafe sd_bus_message_append_basic(message, Self.type("s"), $0) >= 0
        }
    }

    /// The message's pointer for a bus, valid while the message lives.
    // Safe: the object holds its reference while `body` runs, and `body` lets the pointer go with
    // its end.
    func withPointer<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(message) }

    // MARK: Steps

    private func text(_ type: Unicode.Scalar) -> String? {
        var value: UnsafePointer<CChar>?
        // Safe: the text belongs to the message, and is copied.
        guard unsafe sd_bus_message_read_basic(message, Self.type(type), &value) > 0,
            let value = unsafe value
        else { return nil }
        return unsafe String(cString: value)
    }

    private func within(
        _ type: Unicode.Scalar, _ contents: String, _ body: () -> Bool
    ) -> Bool {
        enter(type, contents) && body() && leave()
    }

    private func enter(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        // Safe: as in `skip`.
        unsafe sd_bus_message_enter_container(message, Self.type(type), contents) > 0
    }

    // Safe: the message is alive; outside a container this fails and changes nothing.
    private func leave() -> Bool { unsafe sd_bus_message_exit_container(message) >= 0 }

    private static func type(_ letter: Unicode.Scalar) -> CChar {
        CChar(truncatingIfNeeded: letter.value)
    }
}
