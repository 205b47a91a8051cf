// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
internal import KeychainSecrets

/// Frames over one connected socket, from one sender.
///
/// What arrives is read into locked memory first, since secrets may be among it.
final class FrameStream {
    /// For a frame that has begun, in either direction.
    static let timeout = Duration.seconds(5)
    private static let readAhead = 4096
    /// Secrets are given memory as they arrive: who announces much and sends nothing costs nothing.
    private static let firstPiece = 256 * 1024

    private let descriptor: Descriptor
    private let sender: PeerCredentials?
    /// Named in what we send where the kernel would say it differently from how we connected.
    private let ourselves: kc_sender?
    private let nonce: [UInt8]
    private let timeout: Duration
    /// From a peer that is distrusted, where the kernel does not refuse them.
    private let mayBringDescriptors: Bool
    /// How long the kernel lets a receiving call wait; nil is for ever.
    private var kernelPatience: Duration?
    private var received: UInt64 = 0
    private var sent: UInt64 = 0
    private var buffer = SecretBytes(count: readAhead) { (_: inout MutableRawSpan) in }
    private var start = 0
    private var end = 0

    /// Where a sender is named, no other process may speak on the socket.
    init(
        _ descriptor: Descriptor, sender: PeerCredentials?, ourselves: kc_sender? = nil,
        nonce: [UInt8], timeout: Duration = timeout
    ) {
        self.descriptor = descriptor
        self.sender = sender
        self.ourselves = ourselves
        self.nonce = nonce
        self.timeout = timeout
        mayBringDescriptors = sender != nil && kc_refuses_descriptors(descriptor.number) == 0
    }

    /// Whether the sender has said something that was not read yet.
    var hasUnread: Bool { start < end || Wait.isReady(POLLIN, descriptor.number) }

    func send(_ frame: Frame) throws(SocketError) {
        let longest = Int(UInt32.max)
        guard frame.message.count <= longest, frame.secrets?.bytes.count ?? 0 <= longest
        else { throw .tooLarge }
        sent += 1
        let header = FrameHeader(
            messageLength: frame.message.count, secretsLength: frame.secrets?.bytes.count ?? 0,
            sequence: sent, nonce: nonce)
        let deadline = ContinuousClock.now + timeout
        var bytes = header.bytes
        bytes += frame.message
        // Safe: the spans are borrowed for the call, the lengths are theirs.
        try unsafe bytes.span.bytes.withUnsafeBytes { first throws(SocketError) in
            guard let secrets = frame.secrets else {
                let nothing = unsafe UnsafeRawBufferPointer(rebasing: first[0..<0])
                return try unsafe write(first, nothing, deadline)
            }
            try secrets.bytes.withBytes { span throws(SocketError) in
                try unsafe span.withUnsafeBytes { second throws(SocketError) in
                    try unsafe write(first, second, deadline)
                }
            }
        }
    }

    /// `patience` is for the first byte; from then on it is `timeout` for the header and for what
    /// follows it.
    func receive(
        _ limits: FrameLimits, within patience: Duration?,
        admit: (FrameLimits) throws(SocketError) -> Void = { _ in }
    ) throws(SocketError) -> Frame {
        try awaitFirst(patience)
        var frameDeadline = ContinuousClock.now + timeout
        try fill(FrameHeader.byteCount, frameDeadline)
        let header = try buffer.withBytes { bytes throws(SocketError) in
            try FrameHeader(bytes.extracting(start..<start + FrameHeader.byteCount), nonce)
        }
        start += FrameHeader.byteCount
        received += 1
        guard header.sequence == received else { throw .malformed }
        guard header.messageLength <= limits.message, header.secretsLength <= limits.secrets
        else { throw .tooLarge }
        try admit(FrameLimits(message: header.messageLength, secrets: header.secretsLength))
        frameDeadline = ContinuousClock.now + timeout
        let message = try message(header.messageLength, frameDeadline)
        guard header.secretsLength > 0 else { return Frame(message: message, secrets: nil) }
        let secrets = try secrets(header.secretsLength, frameDeadline)
        return Frame(message: message, secrets: HeldSecret(secrets))
    }

    // MARK: Receiving

    private func message(
        _ length: Int, _ deadline: ContinuousClock.Instant
    ) throws(SocketError) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(min(length, 64 * 1024))
        while message.count < length {
            try fill(1, deadline)
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
        _ length: Int, _ deadline: ContinuousClock.Instant
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

    /// No copy of a secret stays behind where it was read.
    private func forgetWhatWasTaken() {
        buffer = buffer.part(start..<end).padded(to: Self.readAhead)
        (start, end) = (0, end - start)
    }

    /// Reads until `count` bytes lie in the buffer.
    private func fill(
        _ count: Int, _ deadline: ContinuousClock.Instant?, inKernel: Bool = false
    ) throws(SocketError) {
        if end - start >= count { return }
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

    /// Waits for the first byte of a frame: in the receiving call itself, whose patience is set where
    /// it is another than before.
    private func awaitFirst(_ patience: Duration?) throws(SocketError) {
        guard start == end else { return }
        try setKernelPatience(patience)
        try fill(1, patience.map { .now + $0 }, inKernel: true)
    }

    private func setKernelPatience(_ patience: Duration?) throws(SocketError) {
        guard patience != kernelPatience else { return }
        try descriptor.receive(within: patience)
        kernelPatience = patience
    }

    private func read(
        _ target: UnsafeMutableRawBufferPointer, _ deadline: ContinuousClock.Instant?,
        inKernel: Bool = false
    ) throws(SocketError) -> Int {
        var inKernel = inKernel
        while true {
            if deadline != nil, !inKernel { try descriptor.wait(for: POLLIN, until: deadline) }
            var speaker = kc_sender()
            // Safe: the target is borrowed memory of that length.
            let count = unsafe kc_receive(
                descriptor.number, target.baseAddress, target.count, 0,
                mayBringDescriptors ? 1 : 0, &speaker)
            if count > 0 {
                if let sender, !sender.isSame(as: speaker) { throw .foreignSender }
                return count
            }
            if count == 0 { throw .closed }
            switch errno {
            case EINTR: inKernel = false
            // Its time is over, but for what clocks differ by.
            case EAGAIN where inKernel: inKernel = false
            case EAGAIN: try descriptor.wait(for: POLLIN, until: deadline)
            case ECONNRESET: throw .closed
            case EBADMSG: throw .malformed
            default: throw .system(errno)
            }
        }
    }

    // MARK: Sending

    private func write(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
        _ deadline: ContinuousClock.Instant
    ) throws(SocketError) {
        var first = unsafe first
        var second = unsafe second
        while first.count + second.count > 0 {
            // Safe: both are borrowed by the caller for the whole call.
            let count =
                unsafe first.isEmpty
                ? send(second, nil) : send(first, second)
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    try descriptor.wait(for: POLLOUT, until: deadline)
                    continue
                case EPIPE, ECONNRESET: throw .closed
                default: throw .system(errno)
                }
            }
            let fromFirst = min(count, first.count)
            unsafe first = UnsafeRawBufferPointer(rebasing: first[fromFirst...])
            unsafe second = UnsafeRawBufferPointer(rebasing: second[(count - fromFirst)...])
        }
    }

    private func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer?
    ) -> Int {
        // Safe: as above; the credentials are copied within the call.
        guard var ourselves else {
            return unsafe kc_send(
                descriptor.number, first.baseAddress, first.count, second?.baseAddress,
                second?.count ?? 0, nil)
        }
        return unsafe kc_send(
            descriptor.number, first.baseAddress, first.count, second?.baseAddress,
            second?.count ?? 0, &ourselves)
    }
}
