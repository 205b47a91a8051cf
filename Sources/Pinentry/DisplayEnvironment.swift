// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// The display for a dialog: the only part of the environment that a pinentry gets.
///
/// The display is a local X server, whose socket tells its process and user; on Wayland, that is
/// Xwayland. The user's bus is at systemd's path. The program that started this one could choose
/// any other address of either, and a window there would not be the user's.
package struct DisplayEnvironment: Sendable {
    private static let names = [
        "DISPLAY", "XAUTHORITY", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
    ]
    private static let longestValue = 4096

    private var values: [String: String]
    private let displayNumber: UInt32?

    /// Reads this process's environment. It must be called before the environment is cleared.
    package init() {
        var found: [String: String] = [:]
        for name in Self.names + ["HOME"] {
            // Safe: copied at once; nothing else runs that could change the environment.
            if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
        }
        self.init(found, runtimeFolder: "/run/user/\(getuid())")
    }

    init(_ environment: [String: String], runtimeFolder: String) {
        values = environment.filter {
            Self.names.contains($0.key) && !$0.value.isEmpty
                && $0.value.utf8.count <= Self.longestValue
        }
        // A pinentry gets no home folder, where Xlib would look for it.
        if let home = environment["HOME"], values["XAUTHORITY"] == nil {
            values["XAUTHORITY"] = home + "/.Xauthority"
        }
        displayNumber = values["DISPLAY"].flatMap(Self.number)
        if displayNumber == nil { values["DISPLAY"] = nil }
        if FileIdentity(runtimeFolder) != nil { values["XDG_RUNTIME_DIR"] = runtimeFolder }
        if FileIdentity(runtimeFolder + "/bus") != nil {
            values["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + runtimeFolder + "/bus"
        }
        if values["LC_ALL"] == nil, values["LANG"] == nil { values["LANG"] = "C.UTF-8" }
    }

    /// The N of a local display `:N`, or `:N.SCREEN`.
    private static func number(_ display: String) -> UInt32? {
        let parts = display.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard display.hasPrefix(":"), (1...2).contains(parts.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } && !$0.isEmpty })
        else { return nil }
        return UInt32(parts[0])
    }

    /// The X server of the display: the first address that an X library tries, and the only one
    /// while the server lives. nil where there is none.
    package var server: (process: Int32, user: UInt32, number: UInt32)? {
        guard let displayNumber,
            let peer = AbstractSocket.listener("/tmp/.X11-unix/X\(displayNumber)")
        else { return nil }
        return (peer.pid, peer.user, displayNumber)
    }

    var isGraphical: Bool { displayNumber != nil }
    var hasBus: Bool { values["DBUS_SESSION_BUS_ADDRESS"] != nil }
    var terminalType: String? { values["TERM"] }
    var characterSet: String? { values["LC_ALL"] ?? values["LC_CTYPE"] ?? values["LANG"] }

    /// `NAME=value`, in no particular order.
    var words: [String] { values.map { $0.key + "=" + $0.value } }
}
