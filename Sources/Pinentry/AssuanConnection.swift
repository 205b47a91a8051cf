// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// Assuan, the line protocol of pinentries: it sends a command and reads its reply.
///
/// All received bytes may be part of a password and are read into locked memory.
final class AssuanConnection {
    struct Reply {
        let data: HeldSecret
        /// nil where the command succeeded. The lower half of the number is the error code.
        let error: UInt32?
    }

    private static let glance = Duration.milliseconds(100)

    private let descriptor: Descriptor
    private let longestAnswer: Int
    private var buffer = SecretBytes(count: 4096) { (_: inout MutableRawSpan) in }
    private var filled = 0

    init(_ descriptor: Descriptor, longestAnswer: Int) {
        self.descriptor = descriptor
        self.longestAnswer = longestAnswer
    }

    /// The two ends of a connection. It is a socket, since a user can open the pipes of their
    /// processes through /proc and read from them.
    static func pair() throws(PinentryError) -> (here: Descriptor, there: Descriptor) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        // Safe: the kernel writes two numbers.
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw .notShown }
        return (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
    }

    func send(_ line: String) throws(PinentryError) {
        let bytes = Array((line + "\n").utf8)
        // Safe: sends the borrowed bytes. They fit into the socket's buffer, since each command
        // waits for the reply to the one before.
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(
                descriptor.number, $0.baseAddress, $0.count,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        guard count == bytes.count else { throw .notShown }
    }

    /// The reply to the last command; throws `.cancelled` where the pinentry has gone.
    func reply(unless isOver: () -> Bool) throws(PinentryError) -> Reply {
        var answer = TypedAnswer(longest: longestAnswer)
        while true {
            let line = try line(unless: isOver)
            if line.begins(with: "D ") {
                try answer.append(line, from: 2)
            } else if line.begins(with: "OK") {
                return Reply(data: HeldSecret(try answer.finish()), error: nil)
            } else if line.begins(with: "ERR ") {
                let nothing = SecretBytes(count: 0) { (_: inout MutableRawSpan) in }
                return Reply(data: HeldSecret(nothing), error: line.number(from: 4))
            } else if line.begins(with: "INQUIRE") {
                throw .notShown
            }
            // Status lines and comments are ignored.
        }
    }

    private func line(unless isOver: () -> Bool) throws(PinentryError) -> SecretBytes {
        while true {
            if let length = (0..<filled).first(where: { buffer.byte(at: $0) == 0x0A }) {
                let line = buffer.part(0..<length)
                let room = buffer.count
                buffer = buffer.part(length + 1..<filled).padded(to: room)
                filled -= length + 1
                return line
            }
            guard filled < buffer.count else { throw .notShown }
            try wait(unless: isOver)
            try read()
        }
    }

    private func read() throws(PinentryError) {
        let start = filled
        let count = buffer.withMutableBytes { span in
            // Safe: receives behind what is there, within the buffer.
            unsafe span.withUnsafeMutableBytes { target in
                unsafe recv(
                    descriptor.number, target.baseAddress! + start, target.count - start, 0)
            }
        }
        if count < 0, errno == EINTR { return }
        guard count > 0 else { throw .cancelled }
        filled += count
    }

    private func wait(unless isOver: () -> Bool) throws(PinentryError) {
        while (try? Wait.until(POLLIN, descriptor.number, deadline: .now + Self.glance)) == nil {
            if isOver() { throw .abandoned }
        }
    }
}

extension SecretBytes {
    fileprivate borrowing func begins(with word: String) -> Bool {
        let word = Array(word.utf8)
        guard count >= word.count else { return false }
        for offset in word.indices where byte(at: offset) != word[offset] { return false }
        return true
    }

    /// The decimal number there; the largest number where there is none.
    fileprivate borrowing func number(from start: Int) -> UInt32 {
        var digits = ""
        for offset in start..<min(count, start + 10) {
            guard case let digit = byte(at: offset), (0x30...0x39).contains(digit) else { break }
            digits.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return UInt32(digits) ?? .max
    }
}
