// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Terminal

/// The clipboard of the desktop, by the programs that desktops have for it.
///
/// The program holds the secret and is ended after a while, or when a signal ends this one, and at the
/// latest together with it: then the clipboard is empty. It ends by itself once something else was copied, which so stays.
enum Clipboard {
    private static let seconds = 45.0
    /// A holder that can't reach the desktop says so by then, unless the machine is busy.
    private static let firstSeconds = 0.3
    private static let lastSeconds = 2.0

    /// A program that holds the clipboard for as long as it runs.
    struct Holder: Equatable {
        let path: String
        let arguments: [String]
        /// Without the first of them it has no desktop to talk to.
        let variables: [String]
        /// Empties the clipboard; for a holder that leaves a file behind where it is ended.
        var clearing: [String]?
    }

    /// In turn; the first that is installed and has its desktop.
    private static let holders = [
        Holder(
            path: "/usr/bin/wl-copy", arguments: ["--foreground", "--type", "text/plain"],
            variables: ["WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"], clearing: ["--clear"]),
        Holder(
            path: "/usr/bin/xclip", arguments: ["-in", "-selection", "clipboard", "-quiet"],
            variables: ["DISPLAY", "XAUTHORITY", "HOME"]),
        Holder(
            path: "/usr/bin/xsel", arguments: ["--clipboard", "--input", "--nodetach"],
            variables: ["DISPLAY", "XAUTHORITY", "HOME"]),
    ]

    static func holder(
        in environment: (String) -> String?, isInstalled: (String) -> Bool
    ) -> Holder? {
        holders.first { environment($0.variables[0]) != nil && isInstalled($0.path) }
    }

    /// Has the secret on the clipboard for a while.
    static func lend(_ secret: HeldSecret) throws(CommandFailure) {
        let environment = { ProcessEnvironment[$0] }
        guard environment("WAYLAND_DISPLAY") != nil || environment("DISPLAY") != nil else {
            throw missing("there is no desktop here, so there is no clipboard")
        }
        guard let holder = holder(in: environment, isInstalled: InstalledProgram.isTrusted) else {
            throw missing("no program for the clipboard is installed")
        }
        var variables = holder.variables.compactMap { name in
            environment(name).map { "\(name)=\($0)" }
        }
        // wl-copy has what it holds in a temporary file, in /tmp; a version that can be told has it in
        // the user's own folder, which is in memory.
        if let folder = environment("XDG_RUNTIME_DIR") { variables.append("TMPDIR=\(folder)") }
        let signals: CaughtSignals
        do throws(TerminalError) { signals = try CaughtSignals() } catch {
            throw CommandFailure(error)
        }
        // Only now, with the clipboard empty, may a signal have its way.
        defer { signals.release() }
        try lend(secret, to: holder, variables, seconds: seconds, until: signals.descriptor)
    }

    /// Until the time is over, the holder ends, or there is something to read from `stop`.
    static func lend(
        _ secret: HeldSecret, to holder: Holder, _ variables: [String], seconds: Double,
        until stop: Int32
    ) throws(CommandFailure) {
        let child: ChildProcess
        do {
            let input = try SecretPipe.filled(with: secret.bytes)
            child = try ChildProcess.between(
                input, nil, executable: holder.path, arguments: holder.arguments,
                environment: variables, newSession: true)
        } catch {
            throw failed(error == .tooLarge ? "it is too long for the clipboard" : unreachable)
        }
        // It ends well where another program took the clipboard over. Until it has the clipboard,
        // emptying that would change nothing: a signal waits.
        if let ended = child.wait(deadlineSeconds: firstSeconds) {
            guard ended.isSuccess else { throw failed(unreachable) }
            return
        }
        StandardStream.error.write(
            "keychainctl: On the clipboard for \(Int(seconds)) seconds; Ctrl-C ends that.\n")
        let ended = child.wait(deadlineSeconds: seconds, unless: stop)
        if ended == nil, let clearing = holder.clearing {
            // The holder hears of it, removes its file, and ends.
            let other = try? ChildProcess.between(
                nil, nil, executable: holder.path, arguments: clearing, environment: variables,
                newSession: true)
            _ = other?.wait(deadlineSeconds: lastSeconds)
            _ = child.wait(deadlineSeconds: lastSeconds)
        }
        child.kill()
        // On a busy machine a holder may say only now that it can't reach the desktop.
        if let ended, !ended.isSuccess { throw failed(unreachable) }
    }

    private static let unreachable = "the desktop's clipboard can't be reached"

    private static func missing(_ sentence: String) -> CommandFailure {
        CommandFailure(
            .failure, name: "noClipboard", "nothing was copied: \(sentence)",
            advice: "wl-copy, xclip or xsel in /usr/bin can hold it; keychainctl get shows it.")
    }

    private static func failed(_ sentence: String) -> CommandFailure {
        CommandFailure(.failure, name: "noClipboard", "nothing is on the clipboard: \(sentence)")
    }
}
