// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets
internal import Synchronization

/// The controlling terminal of this process, whatever its standard input and output are.
///
/// Typed answers go from the kernel directly into locked memory.
package final class Terminal: Sendable {
    /// The most bytes of one answer.
    package static let longestAnswer = 1023

    /// The user is told this instead of getting an answer (`TerminalError.shared`).
    package static let isShared = """
        another program reads what is typed on this terminal. What you typed was not used; if that \
        was a password, change it
        """

    private let descriptor: Int32
    /// A process has only one set of signal handlers and terminal modes.
    private static let turn = Mutex(())

    package init() throws(TerminalError) {
        descriptor = Self.opened()
        guard descriptor >= 0 else { throw .noTerminal }
    }

    deinit { close(descriptor) }

    /// A program that was killed while it asked has left the terminal closed to all that would open
    /// it (`TypingModes`); the descriptors with which this process began end that.
    private static func opened() -> Int32 {
        // Safe: the path is a constant; the descriptor is closed by `deinit`.
        func open() -> Int32 { unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) }
        let number = open()
        guard number < 0, errno == EBUSY else { return number }
        for given in Int32(0)...2 where tcgetsid(given) == getsid(0) {
            _ = ioctl(given, UInt(TIOCNXCL))
        }
        return open()
    }

    /// Whether this process may read here; a background job would be stopped.
    package var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Shows text on lines of its own, with characters that could deceive its reader escaped.
    package func say(_ text: String) { show(PlainText.escaped(text) + "\n") }

    /// Shows a secret that its user is to write down, on a line of its own, and keeps no copy.
    package func show(secret: borrowing SecretBytes) {
        secret.withBytes { bytes in
            // Safe: writes the borrowed bytes.
            unsafe bytes.withUnsafeBytes { _ = unsafe write(descriptor, $0.baseAddress, $0.count) }
        }
        show("\n")
    }

    /// Asks for a line, and returns it without its end.
    ///
    /// Throws `.abandoned` once the other end of the socket `listener` is closed, or once `isOver`,
    /// which is called a few times a second, returns true.
    package func ask(
        _ question: String, echo: Bool, for listener: Int32? = nil,
        unless isOver: () -> Bool = { false }
    ) throws(TerminalError) -> SecretBytes {
        try Self.turn.withLock { _ throws(TerminalError) in
            let signals = try CaughtSignals()
            let result: Result<HeldSecret, TerminalError>
            do throws(TerminalError) {
                let modes = try TypingModes(descriptor)
                // Last, so that a program that sees the line end finds the modes restored.
                defer { show("\n") }
                defer { modes.restore() }
                show(PlainText.escaped(question))
                let line = LineReading(
                    descriptor, reader: modes.reader, keys: modes.keys, echo: echo,
                    signals: signals.descriptor, listener: listener)
                result = .success(HeldSecret(try line.read(unless: isOver)))
            } catch { result = .failure(error) }
            // Signals are raised only now, with the modes restored.
            signals.release()
            return try result.get().bytes.copy()
        }
    }

    /// Lends the terminal to another program. Whatever happens, the modes are restored before a
    /// signal that came is raised.
    package func lend<R: ~Copyable, E: Error>(
        _ body: () throws(E) -> R
    ) throws(TerminalError) -> Result<R, E> {
        try Self.turn.withLock { _ throws(TerminalError) in
            let signals = try CaughtSignals()
            defer { signals.release() }
            let modes = try TerminalModes(descriptor)
            defer { modes.restore() }
            do throws(E) { return .success(try body()) } catch { return .failure(error) }
        }
    }

    private func show(_ text: String) { StandardStream.write(Array(text.utf8), to: descriptor) }
}
