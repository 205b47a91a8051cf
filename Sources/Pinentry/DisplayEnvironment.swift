// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import LocalSocket

/// Where a dialog can be shown: all that a pinentry gets to know of its surroundings.
public struct DisplayEnvironment: Sendable {
    private static let names = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
        "TERM", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
    ]
    private static let longestValue = 4096

    private var values: [String: String]

    /// That of this process. Ask before the environment is cleared.
    public init() {
        var found: [String: String] = [:]
        for name in Self.names + ["HOME"] {
            // Safe: copied at once; nothing else runs that could change the environment.
            if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
        }
        self.init(found)
    }

    init(_ environment: [String: String]) {
        values = environment.filter {
            Self.names.contains($0.key) && !$0.value.isEmpty
                && $0.value.utf8.count <= Self.longestValue
        }
        // A pinentry gets no home folder, where Xlib would look for it.
        if let home = environment["HOME"], values["XAUTHORITY"] == nil {
            values["XAUTHORITY"] = home + "/.Xauthority"
        }
        if let folder = values["XDG_RUNTIME_DIR"], values["DBUS_SESSION_BUS_ADDRESS"] == nil,
            FilePlace(folder + "/bus") != nil
        {
            values["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + folder + "/bus"
        }
        if values["LC_ALL"] == nil, values["LANG"] == nil { values["LANG"] = "C.UTF-8" }
    }

    var hasX: Bool { values["DISPLAY"] != nil }
    var isGraphical: Bool { hasX || values["WAYLAND_DISPLAY"] != nil }
    var hasBus: Bool { values["DBUS_SESSION_BUS_ADDRESS"] != nil }
    var terminalType: String? { values["TERM"] }
    var characterSet: String? { values["LC_ALL"] ?? values["LC_CTYPE"] ?? values["LANG"] }

    /// `NAME=value`, in no particular order.
    var words: [String] { values.map { $0.key + "=" + $0.value } }
}
