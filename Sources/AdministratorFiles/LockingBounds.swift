// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// The administrator's bounds on every keychain's automatic locking: one setting per line, named as
/// in `keychainctl settings`. Without the file there are no bounds.
package enum LockingBounds {
    package static let path = "/etc/keychain/locking.conf"

    package static func file(
        _ path: String
    ) throws(FileMistake) -> AdministratorFile<KeychainSettings> {
        try AdministratorFile(path) { lines throws(FileMistake) in try settings(lines) }
    }

    /// `fallback` are the bounds while the file has a mistake.
    package static func file(
        _ path: String, orElse fallback: KeychainSettings, _ log: (String) -> Void
    ) -> AdministratorFile<KeychainSettings> {
        AdministratorFile(path, orElse: fallback, log) { lines throws(FileMistake) in
            try settings(lines)
        }
    }

    static func settings(_ lines: [FileLine]) throws(FileMistake) -> KeychainSettings {
        var settings = KeychainSettings.loosest
        var known: Set<String> = []
        for line in lines {
            guard known.insert(line.first).inserted else {
                throw line.mistake("\(line.first) is there twice")
            }
            guard settings.take(line.first, line.second) else {
                throw line.mistake(
                    """
                    unknown setting or value: write lock-after-idle or lock-after with 90s, 15m, \
                    8h or 1d, lock-on-sleep or lock-with-screen with yes or no
                    """)
            }
        }
        return settings
    }
}

extension KeychainSettings {
    /// Returns false for an unknown setting, or an invalid value.
    fileprivate mutating func take(_ name: String, _ value: String) -> Bool {
        let time = TimeSpan(value)?.seconds
        let answer = ["yes": true, "no": false][value]
        switch (name, time, answer) {
        case ("lock-after-idle", let seconds?, _): lockAfterIdle = seconds
        case ("lock-after", let seconds?, _): lockAfter = seconds
        case ("lock-on-sleep", _, let isSet?): locksOnSleep = isSet
        case ("lock-with-screen", _, let isSet?): locksWithScreen = isSet
        default: return false
        }
        return true
    }
}
