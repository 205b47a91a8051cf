// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The terminal's modes while a line is typed: no echo, each key at once, and no key a signal.
///
/// Ctrl-C arrives as a key, because as a signal it would also end the asking program.
final class TypingModes {
    /// The keys that edit or end a line on this terminal.
    struct Keys {
        let erase: UInt8
        let kill: UInt8
        let endOfFile: UInt8
        let interrupt: UInt8
        let quit: UInt8
    }

    let keys: Keys
    private let before: TerminalModes

    init(_ descriptor: Int32) throws(TerminalError) {
        before = try TerminalModes(descriptor)
        var modes = before.value
        keys = Keys(
            erase: modes.c_cc.2, kill: modes.c_cc.3, endOfFile: modes.c_cc.4,
            interrupt: modes.c_cc.0, quit: modes.c_cc.1)
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        modes.c_iflag |= tcflag_t(ICRNL)
        modes.c_cc.5 = 0  // VTIME
        modes.c_cc.6 = 1  // VMIN
        // Keys typed before the question could be read are no answer, and are discarded.
        try TerminalModes.set(descriptor, modes)
    }

    func restore() { before.restore() }
}

/// The former modes of a terminal.
struct TerminalModes {
    let value: termios
    private let descriptor: Int32

    init(_ descriptor: Int32) throws(TerminalError) {
        self.descriptor = descriptor
        var modes = termios()
        // Safe: the structure is this function's own.
        guard unsafe tcgetattr(descriptor, &modes) == 0 else { throw .system(errno) }
        value = modes
    }

    func restore() { try? Self.set(descriptor, value) }

    static func set(_ descriptor: Int32, _ modes: termios) throws(TerminalError) {
        var modes = modes
        // Safe: as above.
        while unsafe tcsetattr(descriptor, TCSAFLUSH, &modes) != 0 {
            guard errno == EINTR else { throw .system(errno) }
        }
    }
}
