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
}
