// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainSecrets

/// One dialog in a pinentry of its own, which ends with this value.
///
/// The pinentry runs with its user's rights alone. It gets none of this process's group,
/// descriptors and environment, apart from the variables of the display.
package final class PinentryDialog {
    /// The texts of a dialog.
    package struct Words: Sendable, Equatable {
        package var description: String
        /// The text beside the field.
        package var prompt: String
        /// The mistake in the answer before.
        package var error: String?

        package init(description: String, prompt: String, error: String?) {
            self.description = description
            self.prompt = prompt
            self.error = error
        }
    }

    /// The most bytes of one answer.
    package static let longestAnswer = 1023
    private static let title = "Keychain"
    /// Seconds for each command that shows nothing yet, and for a pinentry to end.
    private static let patience = 10.0
    private static let farewell = 1.0

    /// Whether it uses the terminal instead of a window.
    package let usesTerminal: Bool
    private let child: ChildProcess
    private let connection: AssuanConnection

    /// Starts the best pinentry that works on the display.
    ///
    /// - Parameters:
    ///   - window: the number of the X server's window over which the dialog is to stand.
    ///   - inOwnWindow: whether only a pinentry that draws its own windows is started.
    package static func open(
        _ display: DisplayEnvironment, over window: UInt32? = nil, inOwnWindow: Bool = false
    ) throws(PinentryError) -> PinentryDialog {
        for program in PinentryProgram.candidates(for: display)
        where program.drawsWindows || !inOwnWindow {
            if let dialog = try? PinentryDialog(program, display, over: window) { return dialog }
        }
        throw .notShown
    }

    /// Whether there is a pinentry that needs no terminal.
    package static func hasDesktop(_ display: DisplayEnvironment) -> Bool {
        guard display.isGraphical else { return false }
        return (try? open(display).usesTerminal) == false
    }

    /// Whether there is a pinentry that draws its own windows.
    package static func hasWindow(_ display: DisplayEnvironment) -> Bool {
        (try? open(display, inOwnWindow: true)) != nil
    }

    init(
        _ program: PinentryProgram, _ display: DisplayEnvironment, over window: UInt32?
    ) throws(PinentryError) {
        usesTerminal = program.needsTerminal
        (child, connection) = try Self.start(program, display)
        try greet(display)
        if let window, !usesTerminal { try option("parent-wid", String(window)) }
    }

    /// Starts a pinentry. The child alone keeps its end of the connection, so that its end is
    /// noticed at once.
    private static func start(
        _ program: PinentryProgram, _ display: DisplayEnvironment
    ) throws(PinentryError) -> (ChildProcess, AssuanConnection) {
        let (here, there) = try AssuanConnection.pair()
        defer { withExtendedLifetime(there) {} }
        do throws(SystemError) {
            let child = try ChildProcess(
                executable: program.path, arguments: [], environment: display.words,
                passing: [(there.number, 0), (there.number, 1)],
                newSession: !program.needsTerminal)
            return (child, AssuanConnection(here, longestAnswer: longestAnswer))
        } catch { throw .notShown }
    }

    deinit {
        try? connection.send("BYE")
        if child.wait(deadlineSeconds: usesTerminal ? Self.farewell : 0) == nil { child.kill() }
    }

    /// The typed answer; throws `.cancelled` where the user cancels, or where the dialog was
    /// killed.
    package func ask(
        _ words: Words, unless isOver: () -> Bool
    ) throws(PinentryError) -> SecretBytes {
        try say(words)
        try connection.send("GETPIN")
        let reply = try settled(unless: isOver)
        guard let error = reply.error else { return reply.data.bytes.copy() }
        throw Refusal(error) == nil ? .notShown : .cancelled
    }

    private func settled(
        unless isOver: () -> Bool
    ) throws(PinentryError) -> AssuanConnection.Reply {
        do throws(PinentryError) { return try connection.reply(unless: isOver) } catch {
            // An abandoned pinentry would not end by itself.
            if error == .abandoned { child.kill() }
            throw error
        }
    }

    /// Whether the user pressed the button for yes. A killed dialog counts as a no.
    package func confirm(
        _ words: Words, yes: String, no: String, unless isOver: () -> Bool
    ) throws(PinentryError) -> Bool {
        try say(words)
        try order(AssuanText.line("SETOK", yes))
        try order(AssuanText.line("SETCANCEL", no))
        try connection.send("CONFIRM")
        let reply = try settled(unless: isOver)
        guard let error = reply.error else { return true }
        guard Refusal(error) != nil else { throw .notShown }
        return false
    }

    /// Shows the texts until this value ends, or the user closes the dialog.
    package func show(_ words: Words) throws(PinentryError) {
        try say(words)
        try connection.send("MESSAGE")
    }

    // MARK: Before the question

    /// Reads the greeting. Without a window some pinentries use the terminal, which is refused
    /// here.
    private func greet(_ display: DisplayEnvironment) throws(PinentryError) {
        _ = try answer()
        try connection.send("GETINFO flavor")
        let flavor = try answer().releasedFromLockedMemory()
        guard !String(decoding: flavor, as: UTF8.self).hasSuffix(":curses") else { throw .notShown }
        if let set = display.characterSet { try option("lc-ctype", set) }
        guard usesTerminal else { return }
        try option("ttyname", "/dev/tty")
        if let type = display.terminalType { try option("ttytype", type) }
    }

    private func say(_ words: Words) throws(PinentryError) {
        try order(AssuanText.line("SETTITLE", Self.title))
        try order(AssuanText.line("SETDESC", words.description))
        try order(AssuanText.line("SETPROMPT", words.prompt))
        if let error = words.error { try order(AssuanText.line("SETERROR", error)) }
    }

    /// Sets an option; an unknown one is ignored.
    private func option(_ name: String, _ value: String) throws(PinentryError) {
        try connection.send(AssuanText.line("OPTION", name + "=" + value))
        _ = try reply()
    }

    private func order(_ line: String) throws(PinentryError) {
        try connection.send(line)
        _ = try answer()
    }

    private func answer() throws(PinentryError) -> SecretBytes {
        let reply = try reply()
        guard reply.error == nil else { throw .notShown }
        return reply.data.bytes.copy()
    }

    private func reply() throws(PinentryError) -> AssuanConnection.Reply {
        let end = ContinuousClock.now + .seconds(Self.patience)
        do throws(PinentryError) {
            return try connection.reply { ContinuousClock.now >= end }
        } catch { throw .notShown }
    }

    /// Errors of libgpg-error for a user who cancels or does not answer.
    private enum Refusal: UInt32 {
        case timedOut = 62
        case cancelled = 99
        case notConfirmed = 114
        case fullyCancelled = 198

        /// The upper half names the component that found the error.
        init?(_ error: UInt32) { self.init(rawValue: error & 0xFFFF) }
    }
}
