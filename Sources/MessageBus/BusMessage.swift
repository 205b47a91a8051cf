// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc
package import KeychainLinuxSystem
package import KeychainSecrets

/// Why a message can't be read.
package enum BusReadError: Error, Equatable, Sendable {
    /// The next value has another type.
    case mismatch
    /// The value is longer than the reader's limit.
    case tooLong
}

/// A message of a bus, read or written from front to back by the thread with the connection.
///
/// Lengths are checked before anything is copied.
@safe package final class BusMessage {
    private let message: OpaquePointer
    /// What came with it beside its bytes.
    var brought: BusInlet.Brought?
    /// The length of one that came from the bus.
    package internal(set) var wholeBytes = 0

    /// Takes over the caller's reference.
    // Safe: only stores the pointer, whose reference is this object's from now on.
    init(owning message: OpaquePointer) { unsafe self.message = message }

    // Safe: gives back the one reference that `init` took over.
    deinit { unsafe _ = sd_bus_message_unref(message) }

    package enum Kind: UInt8 { case call = 1, reply = 2, error = 3, signal = 4 }

    package var kind: Kind? {
        var type: UInt8 = 0
        // Safe: the number is this function's own.
        guard unsafe sd_bus_message_get_type(message, &type) >= 0 else { return nil }
        return Kind(rawValue: type)
    }

    // Safe, all of these: the texts belong to the message, and are copied while it lives.
    package var sender: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) }
    }
    package var path: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) }
    }
    package var interface: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) }
    }
    package var member: String? {
        // Safe: as above.
        unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) }
    }
    /// The descriptors that came with it, whether or not its body names them.
    package var attached: AttachedDescriptors { brought?.attached ?? AttachedDescriptors.none }
    /// The signature of the whole body, as its sender wrote it.
    package var signature: String {
        if let written = brought?.signature { return written }
        // Safe: as above.
        return unsafe sd_bus_message_get_signature(message, 1).map { unsafe String(cString: $0) }
            ?? ""
    }
    // Safe: the message is alive.
    package var expectsReply: Bool { unsafe sd_bus_message_get_expect_reply(message) > 0 }

    /// The name of an error.
    package var errorName: String? {
        // Safe: the error belongs to the message, and its name is copied.
        unsafe sd_bus_message_get_error(message).flatMap {
            unsafe $0.pointee.name.map { unsafe String(cString: $0) }
        }
    }

    /// The sender's number of the message.
    var serial: UInt64? {
        var cookie: UInt64 = 0
        // Safe: the number is this function's own.
        return unsafe sd_bus_message_get_cookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// The number of the call that this replies to, as `send` returned it.
    package var repliesTo: UInt64? {
        var cookie: UInt64 = 0
        // Safe: the number is this function's own.
        return unsafe sd_bus_message_get_reply_cookie(message, &cookie) >= 0 ? cookie : nil
    }

    // MARK: Reading

    /// A text of at most `limit` bytes.
    package func text(atMost limit: Int) throws(BusReadError) -> String { try text("s", limit) }

    package func path(atMost limit: Int) throws(BusReadError) -> String { try text("o", limit) }

    package func bool() throws(BusReadError) -> Bool {
        var value: Int32 = 0
        // Safe: a boolean is written as an int.
        guard unsafe sd_bus_message_read_basic(message, Self.type("b"), &value) > 0 else {
            throw .mismatch
        }
        return value != 0
    }

    package func uint32() throws(BusReadError) -> UInt32 {
        var value: UInt32 = 0
        // Safe: the type says how much is written.
        guard unsafe sd_bus_message_read_basic(message, Self.type("u"), &value) > 0 else {
            throw .mismatch
        }
        return value
    }

    package func uint64() throws(BusReadError) -> UInt64 {
        var value: UInt64 = 0
        // Safe: as above.
        guard unsafe sd_bus_message_read_basic(message, Self.type("t"), &value) > 0 else {
            throw .mismatch
        }
        return value
    }

    /// The one descriptor that a program passed, which can be had once; nil where it was not taken.
    package func descriptor() throws(BusReadError) -> Descriptor? {
        // The inlet left a number in its place.
        _ = try uint32()
        guard attached == .one else { throw .mismatch }
        defer { brought?.descriptor = nil }
        return brought?.descriptor
    }

    /// A process of which the bus itself tells, held by a descriptor.
    package func process() throws(BusReadError) -> Descriptor {
        var value: Int32 = -1
        // Safe: as above; what is read belongs to the message.
        guard unsafe sd_bus_message_read_basic(message, Self.type("h"), &value) > 0 else {
            throw .mismatch
        }
        let own = fcntl(value, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw .mismatch }
        return Descriptor(owning: own)
    }

    /// An array of bytes that are no secret.
    package func bytes(atMost limit: Int) throws(BusReadError) -> [UInt8] {
        // Safe: the bytes are copied, and the buffer is not kept.
        try unsafe withBytes { bytes throws(BusReadError) in
            guard bytes.count <= limit else { throw .tooLong }
            // Safe: the bytes are copied.
            return unsafe Array(UnsafeRawBufferPointer(bytes))
        }
    }

    /// An array of bytes, which are wiped in the message.
    package func secret(atMost limit: Int) throws(BusReadError) -> HeldSecret {
        // Safe: the bytes are copied, and the buffer is not kept.
        try unsafe withBytes { bytes throws(BusReadError) in
            // Safe: the message's memory is this process's own, and is not read again.
            defer {
                if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
            }
            guard bytes.count <= limit else { throw .tooLong }
            let secret = SecretBytes(count: bytes.count) { (span: inout MutableRawSpan) in
                unsafe span.withUnsafeMutableBytes {
                    unsafe $0.copyMemory(from: UnsafeRawBufferPointer(bytes))
                }
            }
            return HeldSecret(secret)
        }
    }

    /// Wipes all arrays of bytes at any depth, in a message that is dropped and may have a secret
    /// in a wrong place.
    package func wipeBytes() {
        // Safe: the message is alive, and only its reading position changes.
        guard unsafe sd_bus_message_rewind(message, 1) >= 0 else { return }
        var values = Self.mostValuesToWipe
        _ = try? wipeBytes(&values)
    }

    /// More values than an honest call has; a message may have millions.
    private static let mostValuesToWipe = 4096
    /// Types of numbers: the library skips an array of these as a whole.
    private static let numbers: Set<String> = ["n", "q", "i", "u", "x", "t", "d"]

    private func wipeBytes(_ values: inout Int) throws(BusReadError) {
        while let (type, contents) = next() {
            values -= 1
            guard values > 0 else { throw .tooLong }
            switch (type, contents) {
            case ("a", "y"):
                // Safe: the message's memory is this process's own, and the buffer is not kept.
                try unsafe withBytes { bytes throws(BusReadError) in
                    if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
                }
            case ("a", _) where Self.numbers.contains(contents):
                // Safe: the buffer is not kept.
                try unsafe withArray(of: contents) { _ in }
            case ("a", _), ("r", _), ("e", _), ("v", _):
                try within(type, contents) { () throws(BusReadError) in try wipeBytes(&values) }
            default: try skip(String(type))
            }
        }
    }

    /// The next type, for a container with the type of its contents; nil at the end.
    private func next() -> (type: Unicode.Scalar, contents: String)? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        // Safe: the text belongs to the message, and is copied.
        guard unsafe sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
        return (
            Unicode.Scalar(UInt8(truncatingIfNeeded: type)),
            unsafe contents.map { unsafe String(cString: $0) } ?? ""
        )
    }

    /// Each element of an array.
    package func each(
        _ contents: String, _ body: () throws(BusReadError) -> Void
    ) throws(BusReadError) {
        try enter("a", contents)
        // Safe: the message is alive, and only its reading position is looked at.
        while unsafe sd_bus_message_at_end(message, 0) == 0 { try body() }
        try leave()
    }

    package func structure<R>(
        _ contents: String, _ body: () throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        try within("r", contents, body)
    }

    /// One entry of a dictionary.
    package func entry<R>(
        _ contents: String, _ body: () throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        try within("e", contents, body)
    }

    package func variant<R>(
        _ contents: String, _ body: () throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        try within("v", contents, body)
    }

    /// The type in the next variant.
    package func variantSignature() throws(BusReadError) -> String {
        guard let (type, contents) = next(), type == "v" else { throw .mismatch }
        return contents
    }

    package func skip(_ types: String) throws(BusReadError) {
        // Safe: the message is alive; the text of types is passed for the call alone.
        guard unsafe sd_bus_message_skip(message, types) > 0 else { throw .mismatch }
    }

    // MARK: Answering

    /// An empty reply to this call, to be filled and sent.
    package func reply() -> BusMessage? {
        var made: OpaquePointer?
        // Safe: the library makes the message and gives the reference away.
        guard unsafe sd_bus_message_new_method_return(message, &made) >= 0,
            let made = unsafe made
        else { return nil }
        return unsafe BusMessage(owning: made)
    }

    /// A refusal of this call.
    package func refusal(_ name: String, _ text: String) -> BusMessage? {
        var made: OpaquePointer?
        // Safe: both texts are copied within the call, and live as long.
        let result = unsafe name.withCString { name in
            unsafe text.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                return unsafe sd_bus_message_new_method_error(message, &made, &error)
            }
        }
        guard result >= 0, let made = unsafe made else { return nil }
        return unsafe BusMessage(owning: made)
    }

    /// Makes the library wipe the message's memory when it frees it.
    // Safe: the message is alive.
    package func isSensitive() { unsafe _ = sd_bus_message_sensitive(message) }

    // Safe: the message is alive, and not sealed yet.
    func startsNothing() { unsafe _ = sd_bus_message_set_auto_start(message, 0) }

    // Safe: as above; the text is copied.
    func isDestined(to name: String) -> Bool {
        unsafe sd_bus_message_set_destination(message, name) >= 0
    }

    /// Lends the pointer to a bus, while the message is alive.
    // Safe: the object holds its reference while `body` runs, and `body` lets the pointer go with
    // its end.
    func withPointer<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(message) }

    // MARK: Writing; false where the library does not take it

    package func append(_ text: String, as type: Unicode.Scalar) -> Bool {
        // Safe: copies the text.
        unsafe text.withCString {
            unsafe sd_bus_message_append_basic(message, Self.type(type), $0) >= 0
        }
    }

    package func append(_ value: Bool) -> Bool {
        var value: Int32 = value ? 1 : 0
        // Safe: a boolean is read as an int.
        return unsafe sd_bus_message_append_basic(message, Self.type("b"), &value) >= 0
    }

    package func append(_ value: UInt32) -> Bool {
        var value = value
        // Safe: the type says how much is read.
        return unsafe sd_bus_message_append_basic(message, Self.type("u"), &value) >= 0
    }

    package func append(_ value: UInt64) -> Bool {
        var value = value
        // Safe: as above.
        return unsafe sd_bus_message_append_basic(message, Self.type("t"), &value) >= 0
    }

    package func append(_ bytes: [UInt8]) -> Bool {
        // Safe: reads as many bytes as the array has.
        unsafe sd_bus_message_append_array(message, Self.type("y"), bytes, bytes.count) >= 0
    }

    /// Writes the secret directly into the message's memory; the message becomes sensitive.
    package func append(_ secret: borrowing SecretBytes) -> Bool {
        isSensitive()
        var space: UnsafeMutableRawPointer?
        let count = secret.count
        // Safe: the library makes room for as many bytes as are copied, which nothing moves before
        // the next call.
        guard
            unsafe sd_bus_message_append_array_space(message, Self.type("y"), count, &space) >= 0
        else { return false }
        guard count > 0, let space = unsafe space else { return true }
        secret.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { _ = unsafe memcpy(space, $0.baseAddress!, count) }
        }
        return true
    }

    package func open(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        // Safe: the message is alive; the text of types is copied.
        unsafe sd_bus_message_open_container(message, Self.type(type), contents) >= 0
    }

    // Safe: the message is alive; outside a container this fails and changes nothing.
    package func close() -> Bool { unsafe sd_bus_message_close_container(message) >= 0 }

    // MARK: Steps

    private func text(_ type: Unicode.Scalar, _ limit: Int) throws(BusReadError) -> String {
        var value: UnsafePointer<CChar>?
        // Safe: the text belongs to the message, ends with a zero, and is copied.
        guard unsafe sd_bus_message_read_basic(message, Self.type(type), &value) > 0,
            let value = unsafe value
        else { throw .mismatch }
        guard unsafe strnlen(value, limit + 1) <= limit else { throw .tooLong }
        return unsafe String(cString: value)
    }

    private func withBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        // Safe: as there.
        try unsafe withArray(of: "y", body)
    }

    /// Lends an array of bytes or numbers in the message's memory.
    private func withArray<R>(
        of contents: String, _ body: (UnsafeMutableRawBufferPointer) throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        guard let type = contents.unicodeScalars.first else { throw .mismatch }
        var start: UnsafeRawPointer?
        var count = 0
        // Safe: the array lies within the message, which lives while `body` runs.
        guard unsafe sd_bus_message_read_array(message, Self.type(type), &start, &count) > 0 else {
            throw .mismatch
        }
        return try unsafe body(
            UnsafeMutableRawBufferPointer(
                start: UnsafeMutableRawPointer(mutating: start), count: count))
    }

    private func within<R>(
        _ type: Unicode.Scalar, _ contents: String, _ body: () throws(BusReadError) -> R
    ) throws(BusReadError) -> R {
        try enter(type, contents)
        let read = try body()
        try leave()
        return read
    }

    private func enter(_ type: Unicode.Scalar, _ contents: String) throws(BusReadError) {
        // Safe: as in `skip`.
        guard unsafe sd_bus_message_enter_container(message, Self.type(type), contents) > 0 else {
            throw .mismatch
        }
    }

    private func leave() throws(BusReadError) {
        // Safe: the message is alive; outside a container this fails and changes nothing.
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .mismatch }
    }

    private static func type(_ letter: Unicode.Scalar) -> CChar {
        CChar(truncatingIfNeeded: letter.value)
    }
}
