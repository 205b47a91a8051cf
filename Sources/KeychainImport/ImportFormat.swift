// SPDX-License-Identifier: Apache-2.0

/// What passwords are brought from.
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
    /// What a program keeps that offers org.freedesktop.secrets, over its user's bus.
    case secretService = "secret-service"

    /// Whether its items are attributed, as programs of the Secret Service have them.
    package var isAttributed: Bool { self == .gnomeKeyring || self == .secretService }
}
