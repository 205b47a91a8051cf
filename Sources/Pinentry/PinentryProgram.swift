// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// A pinentry that the administrator installed.
struct PinentryProgram: Equatable {
    private static let folders = ["/usr/bin", "/usr/local/bin"]

    let path: String
    /// Whether it takes over the terminal, and has no window.
    let needsTerminal: Bool
    /// Whether its dialogs are its own windows, and not those of another program on the user's bus.
    let drawsWindows: Bool

    /// The pinentries that work on the display, the best first. Programs that a user other than
    /// root could have installed are left out.
    static func candidates(for display: DisplayEnvironment) -> [PinentryProgram] {
        let windows = display.isGraphical ? ["pinentry-qt", "pinentry-gtk-2"] : []
        let elsewhere = display.isGraphical && display.hasBus ? ["pinentry-gnome3"] : []
        let terminals = ControllingTerminal.exists ? ["pinentry-curses", "pinentry-tty"] : []
        return windows.compactMap { installed($0, drawsWindows: true) }
            + elsewhere.compactMap { installed($0) }
            + terminals.compactMap { installed($0, needsTerminal: true) }
    }

    private static func installed(
        _ name: String, needsTerminal: Bool = false, drawsWindows: Bool = false
    ) -> PinentryProgram? {
        folders.map { $0 + "/" + name }.first(where: InstalledProgram.isTrusted).map {
            PinentryProgram(path: $0, needsTerminal: needsTerminal, drawsWindows: drawsWindows)
        }
    }
}
