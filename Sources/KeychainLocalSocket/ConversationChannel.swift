// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
package import KeychainSecrets

/// How a PAM conversation ended.
package enum ConversationOutcome: UInt8, Sendable {
    case success = 0
    case failed = 1
    case cancelled = 2
    /// The PAM service is missing or broken.
    case unavailable = 3
    case accountRefused = 4
    case tooManyTries = 5

    /// The exit status of `keychain-auth`, for a reader without the channel. A PAM module that ends
    /// the process by itself gives none of these by mistake, least of all 0.
    package var exitStatus: Int32 { Self.firstStatus + Int32(rawValue) }

    package init?(exitStatus: Int32) {
        guard let value = UInt8(exactly: exitStatus - Self.firstStatus) else { return nil }
        self.init(rawValue: value)
    }

    private static let firstStatus: Int32 = 80
}

/// The messages of a PAM conversation between its two ends.
package enum ConversationMessage: Sendable {
    case askHidden(String)
    case askVisible(String)
    case info(String)
    case error(String)
    /// Shown before any question.
    case title(String)
    case answer(HeldSecret)
    case cancel
    case finished(ConversationOutcome)
}

/// Carries a PAM conversation between `keychain-auth` and the program that shows it. Each message
/// is one datagram: a byte for its kind, then text or an answer.
package final class ConversationChannel: Sendable {
    package static let longestText = 4096
    package static let longestAnswer = 1023
    private static let sendSeconds = 5.0

    package let descriptor: Descriptor
    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    package static func pair() throws(SocketError) -> (ConversationChannel, ConversationChannel) {
        var numbers: [Int32] = [-1, -1]
        // Safe: the kernel writes two numbers.
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw .system(errno) }
        return (
            ConversationChannel(Descriptor(owning: numbers[0])),
            ConversationChannel(Descriptor(owning: numbers[1]))
        )
    }

    /// Ends the conversation for both sides, whichever processes hold copies of the other end.
    package func hangUp() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    package func send(_ message: ConversationMessage) throws(SocketError) {
        switch message {
        case .askHidden(let text): try send(1, text)
        case .askVisible(let text): try send(2, text)
        case .info(let text): try send(3, text)
        case .error(let text): try send(4, text)
        case .answer(let secret):
            guard secret.bytes.count <= Self.longestAnswer else { throw .tooLarge }
            try send(5, secret.bytes.copy())
        case .cancel: try send(6, "")
        case .finished(let outcome):
            try send(7, SecretBytes(copying: [outcome.rawValue]))
        case .title(let text): try send(8, text)
        }
    }

    /// Throws `.closed` when the other end has gone.
    package func receive(deadlineSeconds: Double?) throws(SocketError) -> ConversationMessage {
        let deadline = deadlineSeconds.map { BootTime.now + .seconds($0) }
        try descriptor.wait(for: POLLIN, until: deadline)
        var buffer = SecretBytes(count: Self.longestText + 2) { (_: inout MutableRawSpan) in }
        let count = buffer.withMutableBytes { span in
            // Safe: receives at most the span's length.
            unsafe span.withUnsafeMutableBytes {
                unsafe recv(descriptor.number, $0.baseAddress!, $0.count, 0)
            }
        }
        guard count > 0 else { throw .closed }
        guard count <= Self.longestText + 1 else { throw .tooLarge }
        let kind = buffer.part(0..<1).withBytes { $0.copied[0] }
        return try message(kind, buffer.part(1..<count))
    }

    private func message(
        _ kind: UInt8, _ content: consuming SecretBytes
    ) throws(SocketError) -> ConversationMessage {
        if kind == 5 {
            guard content.count <= Self.longestAnswer else { throw .tooLarge }
            return .answer(HeldSecret(content))
        }
        let bytes = content.withBytes { $0.copied }
        if kind == 7 {
            guard bytes.count == 1, let outcome = ConversationOutcome(rawValue: bytes[0]) else {
                throw .malformed
            }
            return .finished(outcome)
        }
        // A terminal or a toolkit may end a text at a NUL, and show less than was checked.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed
        }
        switch kind {
        case 1: return .askHidden(text)
        case 2: return .askVisible(text)
        case 3: return .info(text)
        case 4: return .error(text)
        case 6: return .cancel
        case 8: return .title(text)
        default: throw .malformed
        }
    }

    private func send(_ kind: UInt8, _ text: String) throws(SocketError) {
        try send(kind, SecretBytes(copying: Array(text.utf8)))
    }

    private func send(
        _ kind: UInt8, _ content: consuming SecretBytes
    ) throws(SocketError) {
        guard content.count <= Self.longestText else { throw .tooLarge }
        let deadline = BootTime.now + .seconds(Self.sendSeconds)
        try descriptor.wait(for: POLLOUT, until: deadline)
        let whole = SecretBytes(copying: [kind]).appending(content)
        let sent = whole.withBytes { bytes in
            // Safe: sends the borrowed bytes.
            unsafe bytes.withUnsafeBytes {
                unsafe kc_send(descriptor.number, $0.baseAddress, $0.count, nil, 0, nil)
            }
        }
        if sent < 0, errno == EAGAIN { throw .timedOut }
        guard sent == whole.count else { throw .closed }
    }
}
