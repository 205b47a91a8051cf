// SPDX-License-Identifier: Apache-2.0

/// The sources of imports.
package enum ImportFormat: String, CaseIterable, Sendable {
    case csv
    case netrc
    case gitCredentials = "git-credentials"
    case pass
    case gopass
    case docker
    case pypirc
    case aws
    case env
    case bitwarden
    case onePassword = "1password"
    case keepass
    /// A keyring file of GNOME's.
    case gnomeKeyring = "gnome-keyring"
    /// The items of a program that offers org.freedesktop.secrets, over its user's bus.
    case secretService = "secret-service"

    /// Whether its items are attributed, as the Secret Service has them.
    package var isAttributed: Bool { self == .gnomeKeyring || self == .secretService }
}
