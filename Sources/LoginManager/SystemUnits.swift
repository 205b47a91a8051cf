// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// What systemd knows of its units.
package enum SystemUnits {
    private static let manager = "org.freedesktop.systemd1"

    /// `User=` of a service as it is written; empty for root's; nil where that can't be told.
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

    /// Its object: each byte that is no letter or digit of ASCII as two digits behind “_”, and so
    /// is a digit at the beginning (sd_bus_path_encode(3)).
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
