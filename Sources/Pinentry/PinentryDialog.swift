// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainSecrets

/// One dialog: a pinentry of its own, which ends with this value.
///
/// The pinentry runs with its user's rights alone. It gets none of this process's group,
/// descriptors and surroundings but what it needs to be seen.
package final class PinentryDialog {
    /// What a dialog says.
    package struct Words: Sendable, Equatable {
        package var description: String
        /// Beside the field.
        package var prompt: String
        /// What was wrong with the answer before.
        package var error: String?

        package init(description: String, prompt: String, error: String?) {
            self.description = description
            self.prompt = prompt
            self.error = error
        }
    }

    /// Bytes of one answer.
    package static let longestAnswer = 1023
    private static let title = "Keychain"
    /// For each command that shows nothing yet, and for a pinentry's farewell.
    private static let patience = 10.0
    private static let farewell = 1.0

    /// Whether it has the terminal instead of a window.
    package let usesTerminal: Bool
    /// Whether it is a window of the pinentry's own.
    package let isWindow: Bool
    private let child: ChildProcess
    private let connection: AssuanConnection

    /// Starts the best pinentry that works there.
    package static func open(_ display: DisplayEnvironment) throws(PinentryError) -> PinentryDialog
    {
        for program in PinentryProgram.candidates(for: display) {
            if let dialog = try? PinentryDialog(program, display) { return dialog }
        }
        throw .notShown
    }

    /// Whether there is one that needs no terminal.
    package static func hasDesktop(_ display: DisplayEnvironment) -> Bool {
        guard display.isGraphical else { return false }
        return (try? open(display).usesTerminal) == false
    }

    /// Whether it would be a window of the pinentry's own.
    package static func hasWindow(_ display: DisplayEnvironment) -> Bool {
        guard display.isGraphical else { return false }
        return (try? open(display).isWindow) == true
    }

    init(_ program: PinentryProgram, _ display: DisplayEnvironment) throws(PinentryError) {
        usesTerminal = program.needsTerminal
        isWindow = program.drawsWindows
        (child, connection) = try Self.start(program, display)
        try greet(display)
    }

    /// The child alone keeps its end of the connection, so that its death is seen at once.
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

    /// What the user typed; `.cancelled` after a no, or where the dialog was killed.
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
            // Its farewell would be waited for in vain.
            if error == .abandoned { child.kill() }
            throw error
        }
    }

    /// Whether the user took the button that says yes. Killing the dialog is a no.
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

    /// Shows the words until this value ends, or the user has seen enough.
    package func show(_ words: Words) throws(PinentryError) {
        try say(words)
        try connection.send("MESSAGE")
    }

    // MARK: What is said before

    /// Where no window can be had some pinentries would take the terminal, which was not meant.
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

    /// One that is not known is no harm.
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

    /// Errors of libgpg-error that mean: the user said no, or nothing.
    private enum Refusal: UInt32 {
        case timedOut = 62
        case cancelled = 99
        case notConfirmed = 114
        case fullyCancelled = 198

        /// The upper half says who found it.
        init?(_ error: UInt32) { self.init(rawValue: error & 0xFFFF) }
    }
}
