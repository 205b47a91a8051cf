// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// systemd's facts about its units.
package enum SystemUnits {
    private static let manager = "org.freedesktop.systemd1"

    /// `User=` of a service as written; empty for root's; nil where that can't be looked up.
    package static func user(of unit: String) -> String? {
        guard
            let answer = SystemBus()?.call(
                manager, path(of: unit), "org.freedesktop.DBus.Properties", "Get",
                manager + ".Service", "User")
        else { return nil }
        var user: String?
        let isRead = answer.variant("s") {
            user = answer.string()
            return user != nil
        }
        return isRead ? user : nil
    }

    /// The unit's object path: each byte that is no ASCII letter or digit becomes “_” and two
    /// hexadecimal digits, and so does a digit at the beginning (sd_bus_path_encode(3)).
    static func path(of unit: String) -> String {
        var name = ""
        for byte in unit.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isDigit = ("0"..."9").contains(scalar)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            if isLetter || (isDigit && !name.isEmpty) {
                name.unicodeScalars.append(scalar)
            } else {
                name += "_" + [byte].hexadecimal
            }
        }
        return "/org/freedesktop/systemd1/unit/" + name
    }
}
