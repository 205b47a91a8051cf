// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The terminal while a line is typed: no echo, each key at once, and no key a signal.
///
/// Ctrl-C arrives as a key, because as a signal it would also end the asking program.
///
/// Any program of the terminal's user can open it by its name, from another login too, and whichever
/// reads first has the key. So no program can open it meanwhile; and a read here finds no key only
/// where none was typed, and fails where another program waits for one.
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
    /// Reads from it don't wait.
    let reader: Int32
    private let before: TerminalModes
    private let descriptor: Int32

    init(_ descriptor: Int32) throws(TerminalError) {
        before = try TerminalModes(descriptor)
        self.descriptor = descriptor
        // Safe: the path is a constant; the descriptor is closed by `deinit`.
        reader = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        var modes = before.value
        keys = Keys(
            erase: modes.c_cc.2, kill: modes.c_cc.3, endOfFile: modes.c_cc.4,
            interrupt: modes.c_cc.0, quit: modes.c_cc.1)
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        modes.c_iflag |= tcflag_t(ICRNL)
        modes.c_cc.5 = 0  // VTIME
        modes.c_cc.6 = 0  // VMIN
        guard reader >= 0 else { throw .noTerminal }
        _ = ioctl(descriptor, UInt(TIOCEXCL))
        // Keys typed before the question could be read are no answer, and are discarded.
        do throws(TerminalError) { try TerminalModes.set(descriptor, modes) } catch {
            _ = ioctl(descriptor, UInt(TIOCNXCL))
            throw error
        }
    }

    deinit { close(reader) }

    func restore() {
        before.restore()
        _ = ioctl(descriptor, UInt(TIOCNXCL))
    }
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
