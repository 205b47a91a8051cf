// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
internal import KeychainLinuxSystem

/// What a bus says, on its way to the library: message by message, without the descriptors.
///
/// Any program on the bus can attach descriptors to a message, and the library would open and close
/// them in its thread. Closing one asks the file system of its file, which may be a program that
/// never answers: the thread would hang, beyond any signal. So the library does not read the bus's
/// socket. The bytes are read here, and the kernel lets a descriptor go unopened when the first byte
/// of its message is read with no room for it. Another thread reads that byte, since the last copy
/// of a socket may linger. Two kinds are taken: a process of which the bus itself tells, which the
/// library gets, and the one that a call of `descriptorSender` to `descriptorMember` brings.
final class BusInlet {
    /// What a message brought that the library does not know of.
    struct Brought {
        let sender: String?
        let serial: UInt64
        let attached: AttachedDescriptors
        /// As the sender wrote it.
        let signature: String?
        /// nil where it was not taken.
        var descriptor: Descriptor?
    }

    private static let chunkBytes = 64 * 1024
    /// Most heads are shorter.
    private static let firstLook = 1024
    /// A bus writes heads at once. This is for one that does not.
    private static let patience: Duration = .seconds(1)
    /// The kernel cuts what is longer into pieces, and a look ends with the piece that has descriptors.
    /// Heads that are used have some hundred bytes; a path alone may have any number.
    private static let longestHead = 16 * 1024
    /// Of a call or a signal: above what any call may have. The library ends its connection at 128 MiB,
    /// which a message may reach on the bus, since the bus adds the sender after it has looked.
    private static let longestMessage = 32 * 1024 * 1024
    /// For another thread to begin.
    private static let beginning: Duration = .seconds(10)
    private static let mostPassed = 64
    /// Threads that let descriptors go.
    private static let mostDropping = 256

    private let bus: Descriptor
    /// The end that the library reads from is the other one.
    private let library: Descriptor
    private let descriptorMember: String?
    /// The one connection of which descriptors are taken: those of any other could linger in its place.
    var descriptorSender: String?
    /// Of the whole message that was begun last.
    private(set) var messageBytes = 0
    private let passed = PassedDescriptors(atMost: mostPassed)
    private let dropping = PassedDescriptors(atMost: mostDropping)
    private var chunk = [UInt8](repeating: 0, count: chunkBytes)
    /// The bytes of the chunk that the library has not got yet.
    private var waiting = 0..<0
    /// Bytes that are still to come of the message that is being passed on.
    private var rest = 0
    /// The rest of the message is read and not passed on.
    private var isSkipping = false
    /// Goes to the library with the first waiting byte.
    private var process: Descriptor?
    private var hasGreeted = false
    private var isEnded = false
    private var incompleteSince: ContinuousClock.Instant?
    /// Of the message that was begun last.
    private var brought: Brought?

    /// Takes over the connection to the bus, and the library's other end of a pair of sockets.
    init(bus: Descriptor, library: Descriptor, descriptorMember: String?) {
        self.bus = bus
        self.library = library
        self.descriptorMember = descriptorMember
        // `kc_receive_passed` has room for the sender and for one descriptor, and must find both.
        var yes: Int32 = 1
        // Safe: reads the number.
        _ = unsafe setsockopt(
            bus.number, SOL_SOCKET, SO_PASSCRED, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Also where a thread still holds the socket, the bus learns of the end.
    deinit { _ = shutdown(bus.number, Int32(SHUT_RDWR)) }

    /// For waiting.
    var number: Int32 { bus.number }

    /// Passes on a message, or a part of one; false where the library has nothing more to read.
    /// Called only once the library has read what it was given.
    func pass() -> Bool {
        guard !isEnded else { return false }
        guard !waiting.isEmpty || read() else { return isEnded }
        return write() || isEnded
    }

    /// What this message brought; nil for any but the last.
    func takeBrought(serial: UInt64?, sender: String?) -> Brought? {
        guard let found = brought, found.serial == serial, found.sender == sender else {
            return nil
        }
        brought = nil
        return found
    }

    // MARK: From the bus

    private func read() -> Bool {
        guard rest == 0 else { return isSkipping ? skip() : take() }
        isSkipping = false
        brought = nil
        guard let seen = look(Self.firstLook) else { return false }
        return MessageHead.begins(with: chunk[0]) ? beginMessage(seen) : beginLine(seen)
    }

    private func beginMessage(_ seen: Int) -> Bool {
        guard seen >= MessageHead.fixedBytes, var head = MessageHead(fixed: chunk) else {
            if isOverdue() { end() }
            return false
        }
        hasGreeted = true
        messageBytes = head.allBytes
        guard head.allBytes <= Self.longestMessage || head.kind == .reply else {
            return beginSkipping(head)
        }
        guard head.headBytes <= Self.longestHead else { return beginUnread(head) }
        guard seen >= head.headBytes || look(head.headBytes) == head.headBytes else {
            return !isEnded && isOverdue() && beginUnread(head)
        }
        guard head.readFields(chunk) else { return beginUnread(head) }
        return head.attached == .none ? begin(head.allBytes) : begin(head)
    }

    /// Before there are messages, a bus says lines.
    private func beginLine(_ seen: Int) -> Bool {
        // What is neither is the library's to refuse.
        guard !hasGreeted else { return begin(seen) }
        guard let end = chunk[..<seen].firstIndex(of: UInt8(ascii: "\n")) else {
            // What does not come is the library's to miss.
            return isOverdue() && begin(seen)
        }
        return begin(end + 1)
    }

    /// Whether the bus has had its time to say more.
    private func isOverdue() -> Bool {
        let since = incompleteSince ?? .now
        incompleteSince = since
        return since.duration(to: .now) > Self.patience
    }

    private func begin(_ bytes: Int) -> Bool {
        incompleteSince = nil
        rest = bytes
        return take()
    }

    /// It goes on without descriptors, and the library drops it where it says that it has some.
    private func beginUnread(_ head: MessageHead) -> Bool {
        incompleteSince = nil
        rest = head.allBytes
        return takeDropping()
    }

    private func beginSkipping(_ head: MessageHead) -> Bool {
        let isBegun = beginUnread(head)
        isSkipping = true
        waiting = 0..<0
        return isBegun && skip()
    }

    /// False: there is nothing to pass on.
    private func skip() -> Bool {
        while rest > 0, take() { waiting = 0..<0 }
        wipe()
        return false
    }

    private func take() -> Bool {
        guard let count = receive(min(rest, chunk.count), 0) else { return false }
        rest -= count
        waiting = 0..<count
        return true
    }

    private func look(_ most: Int) -> Int? { receive(most, Int32(MSG_PEEK)) }

    /// Reads into the chunk; nil where nothing is there. Descriptors are dropped.
    private func receive(_ most: Int, _ flags: Int32, at place: Int = 0) -> Int? {
        // Safe: writes at most as many bytes as the array has behind the place.
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe recv(
                bus.number, $0.baseAddress! + place, min(most, $0.count - place), flags)
        }
        return received(count)
    }

    private func received(_ count: Int) -> Int? {
        if count > 0 { return count }
        if count == 0 || (errno != EAGAIN && errno != EINTR) { end() }
        return nil
    }

    /// The library finds the end once it has read what came before.
    private func end() {
        isEnded = true
        _ = shutdown(library.number, Int32(SHUT_WR))
        // A thread that hangs with the bus's socket would keep the name.
        _ = shutdown(bus.number, Int32(SHUT_RDWR))
    }

    // MARK: With descriptors

    private func begin(_ head: MessageHead) -> Bool {
        incompleteSince = nil
        rest = head.allBytes
        var found: Descriptor?
        guard head.attached == .one ? take(&found, with: head) : takeDropping() else {
            rest = 0
            return false
        }
        if process != nil { return true }
        guard waiting.upperBound >= head.headBytes else {
            end()
            return false
        }
        head.hideDescriptors(in: &chunk)
        brought = Brought(
            sender: head.sender, serial: head.serial, attached: head.attached,
            signature: head.signature, descriptor: found)
        return true
    }

    private func take(_ found: inout Descriptor?, with head: MessageHead) -> Bool {
        if head.kind == .reply, head.sender == BusConnection.itself { return takeProcess() }
        guard let descriptorMember, head.kind == .call, head.member == descriptorMember,
            let descriptorSender, head.sender == descriptorSender, passed.makeRoom()
        else { return takeDropping() }
        let taken = takePassed()
        guard let number = taken, number >= 0 else {
            passed.leave()
            return taken != nil
        }
        found = passed.hold(number)
        return true
    }

    /// Takes a message of which the whole fixed part is there, and lets its descriptors go.
    ///
    /// Rather than hang, the connection ends where too many threads hang.
    private func takeDropping() -> Bool {
        let (bus, first) = (bus, FirstByte())
        guard dropping.makeRoom(), dropping.letGo({ first.read(from: bus) }), wait(for: first),
            let count = receive(min(rest, chunk.count) - 1, 0, at: 1)
        else {
            end()
            return false
        }
        chunk[0] = first.value
        rest -= 1 + count
        waiting = 0..<1 + count
        return true
    }

    /// A look at the socket would not do: it takes part in the descriptors, and may be the last to let
    /// them go.
    private func wait(for first: FirstByte) -> Bool {
        let deadline = ContinuousClock.now + Self.beginning
        while ContinuousClock.now < deadline {
            if MessageHead.begins(with: first.value) { return true }
            usleep(50)
        }
        return false
    }

    /// A bus that is none may hand out anything as a process, and the keychain must not get that.
    private func takeProcess() -> Bool {
        guard let number = takePassed() else { return false }
        guard number >= 0 else { return true }
        let given = Descriptor(owning: number) { kc_close_passed($0) }
        if PinnedProcess(passed: given) != nil { process = given }
        return true
    }

    /// Takes with room for one descriptor, which is -1 where none came.
    private func takePassed() -> Int32? {
        let most = min(rest, chunk.count)
        var number: Int32 = -1
        var speaker = kc_sender()
        // Safe: writes at most as many bytes as the array has.
        let result = unsafe chunk.withUnsafeMutableBytes {
            unsafe kc_receive_passed(
                bus.number, $0.baseAddress, min(most, $0.count), &number, &speaker)
        }
        guard let count = received(result) else { return nil }
        rest -= count
        waiting = 0..<count
        return number
    }

    // MARK: To the library

    private func write() -> Bool {
        // Safe: reads at most the bytes that wait, which are the array's.
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe kc_send_passing(
                library.number, $0.baseAddress! + waiting.lowerBound, waiting.count, nil, 0, nil,
                process?.number ?? -1)
        }
        guard count >= 0 else {
            if errno != EAGAIN, errno != EINTR { end() }
            return false
        }
        process = nil
        waiting = waiting.dropFirst(count)
        if waiting.isEmpty { wipe() }
        return true
    }

    /// The message may have had a secret.
    private func wipe() {
        // Safe: writes the array's bytes.
        unsafe chunk.withUnsafeMutableBytes {
            unsafe explicit_bzero($0.baseAddress!, $0.count)
        }
    }
}

/// The first byte of a message, read by a thread that may hang on what comes with it. The kernel writes
/// the byte before it lets the descriptors go, and both before another thread's turn to read.
@safe private final class FirstByte: @unchecked Sendable {
    private let place: UnsafeMutablePointer<UInt8>

    // Safe: the one byte lives as long as the object, which the reading thread holds.
    init() {
        unsafe place = .allocate(capacity: 1)
        unsafe place.initialize(to: 0)
    }

    // Safe: as above.
    deinit { unsafe place.deallocate() }

    /// 0 until it is there.
    var value: UInt8 {
        // Safe: an atomic look at the byte.
        unsafe kc_load_byte(place)
    }

    func read(from bus: Descriptor) {
        // Safe: writes the one byte.
        _ = unsafe recv(bus.number, place, 1, 0)
    }
}
