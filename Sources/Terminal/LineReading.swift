// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainSecrets

/// Reads one line key by key, directly into locked memory.
struct LineReading {
    private static let pollMilliseconds: Int32 = 250

    private enum Key { case end, cancel, erase, kill, nothing, text }

    private let descriptor: Int32
    private let reader: Int32
    private let keys: TypingModes.Keys
    private let echo: Bool
    private let signals: Int32
    private let listener: Int32?

    init(
        _ descriptor: Int32, reader: Int32, keys: TypingModes.Keys, echo: Bool, signals: Int32,
        listener: Int32?
    ) {
        self.descriptor = descriptor
        self.reader = reader
        self.keys = keys
        self.echo = echo
        self.signals = signals
        self.listener = listener
    }

    func read(unless isOver: () -> Bool) throws(TerminalError) -> SecretBytes {
        var length = 0
        // The extra byte is for the key that ends the line.
        let line = try SecretBytes(count: Terminal.longestAnswer + 1) {
            (span: inout MutableRawSpan) throws(TerminalError) in
            // Safe: `fill` stays within the buffer it borrows.
            length = try unsafe span.withUnsafeMutableBytes { buffer throws(TerminalError) in
                try unsafe fill(buffer, unless: isOver)
            }
        }
        return line.part(0..<length)
    }

    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer, unless isOver: () -> Bool
    ) throws(TerminalError) -> Int {
        var length = 0
        var isTooLong = false
        // Before the first key it is known whether another program waits for it.
        var isKeyThere = false
        while true {
            // Safe: `length` is at most `longestAnswer`, and the buffer has one byte more.
            let key = unsafe buffer.baseAddress! + length
            let count = unsafe Glibc.read(reader, key, 1)
            guard count == 1 else {
                if count < 0, errno != EINTR { throw errno == EAGAIN ? .shared : .hungUp }
                // Another program was faster.
                if count == 0, isKeyThere { throw .shared }
                isKeyThere = try waitForKey(unless: isOver)
                continue
            }
            isKeyThere = false
            switch unsafe meaning(buffer[length]) {
            case .end:
                if isTooLong { throw .tooLong }
                return length
            case .cancel: throw .cancelled
            case .nothing: break
            case .kill:
                while unsafe erase(&length, buffer) {}
                isTooLong = false
            case .erase: _ = unsafe erase(&length, buffer)
            case .text:
                // The last byte is never kept: a line that is too long is read to its end, and then
                // refused.
                if length == Terminal.longestAnswer {
                    isTooLong = true
                } else {
                    if echo { unsafe show(UnsafeRawBufferPointer(start: key, count: 1)) }
                    length += 1
                }
            }
        }
    }

    /// Returns whether there is a key, after a moment at the latest.
    private func waitForKey(unless isOver: () -> Bool) throws(TerminalError) -> Bool {
        var waiting = [
            pollfd(fd: reader, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            // No events: only a hang-up is awaited. poll(2) ignores a negative number.
            pollfd(fd: listener ?? -1, events: 0, revents: 0),
        ]
        // Safe: the array has the three entries it is said to have.
        _ = unsafe poll(&waiting, 3, Self.pollMilliseconds)
        if waiting[1].revents != 0 { throw .cancelled }
        if waiting[2].revents != 0 { throw .abandoned }
        if waiting[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { throw .hungUp }
        if waiting[0].revents != 0 { return true }
        if isOver() { throw .abandoned }
        return false
    }

    private func meaning(_ key: UInt8) -> Key {
        switch key {
        case 0x0A, 0x0D: .end
        case keys.interrupt, keys.quit, keys.endOfFile, 0x03, 0x04: .cancel
        case keys.erase, 0x08, 0x7F: .erase
        case keys.kill: .kill
        case 0x00: .nothing
        default: .text
        }
    }

    /// Removes the last character with all its bytes; returns false when there is none.
    private func erase(_ length: inout Int, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard length > 0 else { return false }
        var isContinuation: Bool
        repeat {
            length -= 1
            // Safe: `length` is above zero before each step back, so that the index is a byte that
            // was typed.
            isContinuation = unsafe buffer[length] & 0xC0 == 0x80
            unsafe buffer[length] = 0
        } while isContinuation && length > 0
        if echo { StandardStream.write([0x08, 0x20, 0x08], to: descriptor) }
        return true
    }

    private func show(_ bytes: UnsafeRawBufferPointer) {
        // Control characters are not echoed in a visible answer either.
        // Safe: the caller lends one byte of its buffer for this call.
        guard let first = unsafe bytes.first, first >= 0x20 else { return }
        _ = unsafe StandardStream.write(bytes, to: descriptor)
    }
}
