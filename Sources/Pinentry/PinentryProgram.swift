// SPDX-License-Identifier: Apache-2.0
internal import LocalSocket

/// A pinentry that the administrator installed.
struct PinentryProgram: Equatable {
    private static let folders = ["/usr/bin", "/usr/local/bin"]

    let path: String
    /// Whether it takes over the terminal, and has no window.
    let needsTerminal: Bool

    /// Those that could be shown there, the best first. Programs that anybody but root could have
    /// put in place are passed over.
    static func candidates(for display: DisplayEnvironment) -> [PinentryProgram] {
        var windows: [String] = []
        if display.isGraphical, display.hasBus { windows.append("pinentry-gnome3") }
        if display.isGraphical { windows.append("pinentry-qt") }
        if display.hasX { windows.append("pinentry-gtk-2") }
        let terminals = ControllingTerminal.exists ? ["pinentry-curses", "pinentry-tty"] : []
        return windows.compactMap { installed($0, needsTerminal: false) }
            + terminals.compactMap { installed($0, needsTerminal: true) }
    }

    private static func installed(_ name: String, needsTerminal: Bool) -> PinentryProgram? {
        folders.map { $0 + "/" + name }.first(where: InstalledProgram.isTrusted)
            .map { PinentryProgram(path: $0, needsTerminal: needsTerminal) }
    }
}
