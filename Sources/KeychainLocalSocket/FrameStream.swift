// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets
internal import CKeychainLinux
internal import Glibc
package import KeychainLinuxSystem

/// Frames over one connected socket, from one sender.
///
/// Bytes are received into locked memory, since there may be secrets among them.
final class FrameStream {
    /// The time for a frame that has begun, in either direction.
    static let timeout = Duration.seconds(5)
    private static let readAhead = 4096
    /// Memory for secrets is allocated as they arrive: a peer that announces many bytes and sends
    /// none costs nothing.
    private static let firstPiece = 256 * 1024

    private let descriptor: Descriptor
    /// The only process that may speak; nil before it is known, and where any may.
    private var sender: PeerCredentials?
    /// Whether the first process that speaks stays the only one.
    private let keepsFirst: Bool
    /// The credentials sent along, where the kernel would otherwise give others than at the
    /// connection.
    private let ourselves: kc_sender
    /// Whether a frame's first byte is awaited in the receiving call, which spares a system call. A thread
    /// that waits there is also woken when the peer takes what was sent, for nothing.
    private let waitsInReceive: Bool
    private let nonce: [UInt8]
    private let timeout: Duration
    /// Whether an untrusted peer may bring descriptors, because this kernel can't refuse them.
    private let mayBringDescriptors: Bool
    /// Whether the peer may pass a descriptor with a message.
    private var takesDescriptors = false
    /// The descriptor that came with the bytes read of the frame.
    private var passed: Descriptor?
    /// How long the kernel lets a receiving call wait; nil is for ever.
    private var kernelPatience: Duration?
    private var received: UInt64 = 0
    private var sent: UInt64 = 0
    private(set) var buffer = SecretBytes(count: readAhead) { (_: inout MutableRawSpan) in }
    private var start = 0
    private var end = 0

    /// Where a sender is given, no other process may speak on the socket; with `keepsFirst`, no other than
    /// the first one that does.
    init(
        _ descriptor: Descriptor, sender: PeerCredentials?, keepsFirst: Bool = false,
        ourselves: kc_sender = kc_sender(), waitsInReceive: Bool = false, nonce: [UInt8],
        timeout: Duration = timeout
    ) {
        self.descriptor = descriptor
        self.sender = sender
        self.keepsFirst = keepsFirst
        self.ourselves = ourselves
        self.waitsInReceive = waitsInReceive
        self.nonce = nonce
        self.timeout = timeout
        mayBringDescriptors =
            (sender != nil || keepsFirst)
            && kc_refuses_descriptors(descriptor.number) == 0
    }

    /// Lets a frame bring a descriptor from now on. The descriptor may come with any byte of the
    /// frame, so a peer that passes one must have no other frame under way.
    func takeDescriptors() { takesDescriptors = true }

    /// Whether the sender has sent bytes that were not read yet.
    var hasUnread: Bool { start < end || Wait.isReady(POLLIN, descriptor.number) }

    /// Sends the frame. The peer gets a copy of its descriptor. Throws `.closed` where the peer has taken
    /// nothing of it.
    func send(_ frame: Frame) throws(SocketError) {
        let longest = Int(UInt32.max)
        guard frame.message.count <= longest, frame.secrets?.bytes.count ?? 0 <= longest
        else { throw .tooLarge }
        sent += 1
        let header = FrameHeader(
            messageLength: frame.message.count, secretsLength: frame.secrets?.bytes.count ?? 0,
            sequence: sent, nonce: nonce
        ).bytes
        // Safe: the spans are borrowed for the call, the lengths are theirs.
        try unsafe header.span.bytes.withUnsafeBytes { header throws(SocketError) in
            try unsafe frame.message.span.bytes.withUnsafeBytes { message throws(SocketError) in
                guard let secrets = frame.secrets else {
                    return try unsafe write(
                        [iovec(header), iovec(message), iovec()], frame.descriptor)
                }
                try secrets.bytes.withBytes { span throws(SocketError) in
                    try unsafe span.withUnsafeBytes { secrets throws(SocketError) in
                        try unsafe write(
                            [iovec(header), iovec(message), iovec(secrets)], frame.descriptor)
                    }
                }
            }
        }
    }

    /// `patience` limits the wait for the first byte; then `timeout` limits the header, and again
    /// the rest. `admit` is called for a frame that needs more memory than the read buffer.
    func receive(
        _ limits: FrameLimits, within patience: Duration?,
        admit: (FrameLimits) throws(SocketError) -> Void = { _ in }
    ) throws(SocketError) -> Frame {
        try awaitFirst(patience)
        var limit: BootTime?
        try fill(FrameHeader.byteCount, &limit)
        let header = try buffer.withBytes { bytes throws(SocketError) in
            try FrameHeader(bytes.extracting(start..<start + FrameHeader.byteCount), nonce)
        }
        start += FrameHeader.byteCount
        received += 1
        guard header.sequence == received else { throw .malformed }
        guard header.messageLength <= limits.message, header.secretsLength <= limits.secrets
        else { throw .tooLarge }
        // Safe: each is within its limit.
        if header.messageLength + header.secretsLength > Self.readAhead {
            try admit(FrameLimits(message: header.messageLength, secrets: header.secretsLength))
        }
        limit = nil
        let message = try message(header.messageLength, &limit)
        var frame = Frame(message: message, secrets: nil)
        if header.secretsLength > 0 {
            frame.secrets = HeldSecret(try secrets(header.secretsLength, &limit))
        }
        if takesDescriptors { frame.descriptor = passed.take() }
        return frame
    }

    /// Reads the bytes that have come, if there are any. Returns true where a whole frame is in the
    /// buffer: then `receive` waits for nothing.
    func readAhead() throws(SocketError) -> Bool {
        if start == end { (start, end) = (0, 0) }
        if end < Self.readAhead {
            let from = end
            end += try buffer.withMutableBytes { span throws(SocketError) in
                // Safe: as in `fill`.
                try unsafe span.withUnsafeMutableBytes { target throws(SocketError) in
                    try unsafe read(
                        UnsafeMutableRawBufferPointer(rebasing: target[from...]), nil,
                        inKernel: true)
                }
            }
        }
        guard end - start >= FrameHeader.byteCount else { return false }
        let header = try buffer.withBytes { bytes throws(SocketError) in
            try FrameHeader(bytes.extracting(start..<start + FrameHeader.byteCount), nonce)
        }
        // Safe: both are numbers of 32 bits.
        return end - start >= FrameHeader.byteCount + header.messageLength + header.secretsLength
    }

    // MARK: Receiving

    private func message(
        _ length: Int, _ limit: inout BootTime?
    ) throws(SocketError) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(min(length, 64 * 1024))
        while message.count < length {
            try fill(1, &limit)
            let take = min(end - start, length - message.count)
            buffer.withBytes { bytes in
                // Safe: copies what is borrowed.
                unsafe bytes.extracting(start..<start + take).withUnsafeBytes {
                    unsafe message.append(contentsOf: $0)
                }
            }
            start += take
        }
        return message
    }

    private func secrets(
        _ length: Int, _ limit: inout BootTime?
    ) throws(SocketError) -> SecretBytes {
        var kept = SecretBytes(count: min(length, Self.firstPiece)) { (_: inout MutableRawSpan) in }
        var count = 0
        while count < length {
            if count == kept.count {
                let larger = SecretBytes(
                    count: min(length, kept.count * 4)
                ) { (_: inout MutableRawSpan) in }
                kept = larger.beginning(with: kept)
            }
            if start < end {
                let take = min(end - start, kept.count - count)
                kept.replace(at: count, with: buffer, from: start, count: take)
                start += take
                count += take
            } else {
                let deadline = begun(&limit)
                count += try kept.withMutableBytes { span throws(SocketError) in
                    // Safe: receives into the part of the secret that is still empty.
                    try unsafe span.withUnsafeMutableBytes { target throws(SocketError) in
                        try unsafe read(
                            UnsafeMutableRawBufferPointer(rebasing: target[count...]), deadline)
                    }
                }
            }
        }
        forgetWhatWasTaken()
        return kept
    }

    /// Wipes the part of the buffer that was read, so that no copy of a secret stays there. Behind `end`
    /// is none: a frame's secrets come last, and are wiped as soon as they are complete.
    private func forgetWhatWasTaken() {
        buffer.moveToBeginning(start..<end)
        (start, end) = (0, end - start)
    }

    /// Reads until the buffer has `count` bytes. The time for a part of a frame begins where bytes of it
    /// are missing: a frame that came whole needs no clock.
    private func fill(_ count: Int, _ limit: inout BootTime?) throws(SocketError) {
        if end - start < count { try fill(count, until: begun(&limit)) }
    }

    private func begun(_ limit: inout BootTime?) -> BootTime {
        let end = limit ?? .now + timeout
        limit = end
        return end
    }

    private func fill(
        _ count: Int, until deadline: BootTime?, inKernel: Bool = false
    ) throws(SocketError) {
        if start == end {
            (start, end) = (0, 0)
        } else if Self.readAhead - start < count {
            forgetWhatWasTaken()
        }
        while end - start < count {
            let from = end
            end += try buffer.withMutableBytes { span throws(SocketError) in
                // Safe: receives behind what is there, within the buffer.
                try unsafe span.withUnsafeMutableBytes { target throws(SocketError) in
                    try unsafe read(
                        UnsafeMutableRawBufferPointer(rebasing: target[from...]), deadline,
                        inKernel: inKernel)
                }
            }
        }
    }

    /// Waits for the first byte of a frame. The kernel's timeout is set only where it differs from the
    /// last one.
    private func awaitFirst(_ patience: Duration?) throws(SocketError) {
        guard start == end else { return }
        if waitsInReceive { try setKernelPatience(patience) }
        try fill(1, until: patience.map { .now + $0 }, inKernel: waitsInReceive)
    }

    private func setKernelPatience(_ patience: Duration?) throws(SocketError) {
        guard patience?.attoseconds != kernelPatience?.attoseconds else { return }
        try descriptor.receive(within: patience)
        kernelPatience = patience
    }

    private func read(
        _ target: UnsafeMutableRawBufferPointer, _ deadline: BootTime?,
        inKernel: Bool = false
    ) throws(SocketError) -> Int {
        var inKernel = inKernel
        while true {
            if deadline != nil, !inKernel { try descriptor.wait(for: POLLIN, until: deadline) }
            var speaker = kc_sender()
            var taken: Descriptor?
            // Safe: the target is borrowed memory, and no longer than it is said to be.
            let count =
                unsafe takesDescriptors
                ? receive(target, &speaker, &taken) : receive(target, &speaker)
            if count > 0 {
                try check(speaker)
                if taken != nil {
                    guard passed == nil else { throw .malformed }
                    passed = taken
                }
                return count
            }
            if count == 0 { throw .closed }
            switch errno {
            case EINTR: inKernel = false
            // The kernel's timeout is over; the rest of the wait covers the difference between the
            // clocks.
            case EAGAIN where inKernel: inKernel = false
            case EAGAIN: try descriptor.wait(for: POLLIN, until: deadline)
            case ECONNRESET: throw .closed
            case EBADMSG: throw .malformed
            default: throw .system(errno)
            }
        }
    }

    /// Throws where another process has spoken than the one that may.
    private func check(_ speaker: kc_sender) throws(SocketError) {
        if sender == nil, keepsFirst {
            guard speaker.known != 0, speaker.pid > 0 else { throw .foreignSender }
            sender = PeerCredentials(pid: speaker.pid, user: speaker.uid, group: speaker.gid)
        }
        if let sender, !sender.isSame(as: speaker) { throw .foreignSender }
    }

    private func receive(
        _ target: UnsafeMutableRawBufferPointer, _ speaker: inout kc_sender
    ) -> Int {
        // Safe: the target is borrowed memory of that length.
        unsafe kc_receive(
            descriptor.number, target.baseAddress, target.count, 0, mayBringDescriptors ? 1 : 0,
            &speaker)
    }

    /// Receives with a descriptor, which gets an owner before anything else is checked.
    private func receive(
        _ target: UnsafeMutableRawBufferPointer, _ speaker: inout kc_sender,
        _ taken: inout Descriptor?
    ) -> Int {
        var number: Int32 = -1
        // Safe: as above.
        let count = unsafe kc_receive_passed(
            descriptor.number, target.baseAddress, target.count, &number, &speaker)
        let error = errno
        if number >= 0 { taken = Descriptor(owning: number) { kc_close_passed($0) } }
        errno = error
        return count
    }

    // MARK: Sending

    private func write(
        _ parts: consuming InlineArray<3, iovec>, _ passed: Descriptor?
    ) throws(SocketError) {
        var passed = passed
        var limit: BootTime?
        var isBegun = false
        var first = 0
        while true {
            // Safe: the parts are borrowed by the caller for the whole call; the credentials are copied
            // within it.
            while first < 3, unsafe parts[first].iov_len == 0 { first += 1 }
            guard first < 3 else { return }
            var sender = ourselves
            let count = unsafe parts.span.withUnsafeBufferPointer {
                unsafe kc_send_parts(
                    descriptor.number, $0.baseAddress! + first, 3 - first, &sender,
                    passed?.number ?? -1)
            }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    try descriptor.wait(for: POLLOUT, until: begun(&limit))
                    continue
                case EPIPE, ECONNRESET: throw isBegun ? .system(errno) : .closed
                default: throw .system(errno)
                }
            }
            isBegun = true
            // The descriptor went with the first of the bytes.
            passed = nil
            var taken = count
            for place in first..<3 {
                // Safe: one of the three, and no more than it has.
                taken -= unsafe parts[place].advance(by: taken)
            }
        }
    }
}

extension iovec {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        // Safe: the kernel only reads what is sent.
        unsafe self.init(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    /// Leaves out as many of the first bytes, or all, and returns how many.
    fileprivate mutating func advance(by count: Int) -> Int {
        // Safe: within the part.
        let step = unsafe min(count, iov_len)
        unsafe iov_base = iov_base.map { unsafe $0 + step }
        unsafe iov_len -= step
        return step
    }
}

/// The header before each frame: 40 bytes, little-endian.
///
/// magic 4, version 2, flags 2 (zero), message length 4, secrets length 4, sequence 8, nonce 16.
struct FrameHeader {
    static let byteCount = 40
    static let nonceBytes = 16
    private static let magic: UInt32 = 0x3146_434B  // "KCF1"
    private static let version: UInt16 = 1

    let messageLength: Int
    let secretsLength: Int
    let sequence: UInt64
    let nonce: [UInt8]

    init(messageLength: Int, secretsLength: Int, sequence: UInt64, nonce: [UInt8]) {
        self.messageLength = messageLength
        self.secretsLength = secretsLength
        self.sequence = sequence
        self.nonce = nonce
    }

    var bytes: InlineArray<40, UInt8> {
        var header = InlineArray<40, UInt8>(repeating: 0)
        var span = header.mutableSpan
        // Safe: any bytes are bytes; the span checks each place.
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
        bytes.storeBytes(of: Self.version.littleEndian, toByteOffset: 4, as: UInt16.self)
        bytes.storeBytes(
            of: UInt32(clamping: messageLength).littleEndian, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(
            of: UInt32(clamping: secretsLength).littleEndian, toByteOffset: 12, as: UInt32.self)
        bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 16, as: UInt64.self)
        for place in 0..<Self.nonceBytes {
            // Safe: the nonce has so many bytes, and the header room for them.
            bytes.storeBytes(of: nonce[place], toByteOffset: 24 + place, as: UInt8.self)
        }
        return header
    }

    /// Parses a header that must have this nonce. A header of another version has magic and version
    /// in the same place, and may have anything after them.
    init(_ bytes: RawSpan, _ nonce: [UInt8]) throws(SocketError) {
        guard bytes.byteCount == Self.byteCount, bytes.number(at: 0, UInt32.self) == Self.magic
        else { throw .malformed }
        let version = bytes.number(at: 4, UInt16.self)
        // Safe: sixteen bits.
        if let error = SocketError(peerOf: Int(version), readerOf: Int(Self.version)) {
            throw error
        }
        guard bytes.number(at: 6, UInt16.self) == 0, bytes.extracting(24..<40).isSame(as: nonce)
        else { throw .malformed }
        messageLength = Int(bytes.number(at: 8, UInt32.self))
        secretsLength = Int(bytes.number(at: 12, UInt32.self))
        sequence = bytes.number(at: 16, UInt64.self)
        self.nonce = nonce
    }
}

extension RawSpan {
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, _: Number.Type
    ) -> Number {
        // Safe: an integer of any bytes is an integer; the offset is checked by the span.
        unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    func isSame(as other: [UInt8]) -> Bool {
        // Safe: only looks at what is borrowed.
        unsafe withUnsafeBytes { unsafe $0.elementsEqual(other) }
    }

    var copied: [UInt8] {
        // Safe: copies what is borrowed.
        unsafe withUnsafeBytes { unsafe Array($0) }
    }
}

/// One message and the secrets it refers to, which are beside it and never inside.
package struct Frame: Sendable {
    package var message: [UInt8]
    package var secrets: HeldSecret?
    /// The descriptor that is sent, or was received, with it.
    package var descriptor: Descriptor?

    package init(message: [UInt8], secrets: HeldSecret?, passing descriptor: Descriptor? = nil) {
        self.message = message
        self.secrets = secrets
        self.descriptor = descriptor
    }
}

/// The most bytes that a frame may have, or the bytes that one has.
package struct FrameLimits: Sendable {
    package var message: Int
    package var secrets: Int

    package init(message: Int, secrets: Int) {
        self.message = message
        self.secrets = secrets
    }

    package static let request = FrameLimits(
        message: 1024 * 1024, secrets: 32 * 1024 * 1024 + 64 * 1024)
    package static let shortRequest = FrameLimits(message: 64 * 1024, secrets: 4096)
    package static let answer = FrameLimits(
        message: 16 * 1024 * 1024, secrets: 64 * 1024 * 1024 + 64 * 1024)
    package static let prompterReply = FrameLimits(message: 256, secrets: 1024)
}

extension Descriptor {
    /// Waits as `Wait.until` does.
    func wait(
        for events: Int32, until deadline: BootTime?
    ) throws(SocketError) {
        do { try Wait.until(events, number, deadline: deadline) } catch { throw SocketError(error) }
    }

    /// Sets how long a receiving call waits from now on; nil is for ever.
    func receive(within patience: Duration?) throws(SocketError) {
        try setTimeout(SO_RCVTIMEO, patience)
    }

    /// Sets how long connecting waits while the backlog is full.
    func connect(within patience: Duration) throws(SocketError) {
        try setTimeout(SO_SNDTIMEO, patience)
    }

    private func setTimeout(_ option: Int32, _ patience: Duration?) throws(SocketError) {
        let parts = patience?.components ?? (seconds: 0, attoseconds: 0)
        var limit = timeval(
            // Safe: the wait is one of our own named limits, which an Int holds in either unit.
            tv_sec: Int(parts.seconds), tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
        // A timeout of zero would mean for ever.
        if patience != nil, limit.tv_sec == 0 { limit.tv_usec = max(limit.tv_usec, 1) }
        // Safe: reads one timeval.
        let result = unsafe setsockopt(
            number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard result == 0 else { throw .system(errno) }
    }
}
