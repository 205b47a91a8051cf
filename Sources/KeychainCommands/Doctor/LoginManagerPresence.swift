// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Whether the system bus and the login manager are there, for a report.
enum LoginManagerPresence {
    case noBus
    /// The system bus answers, but logind is not on it.
    case busAlone
    case present

    static var now: LoginManagerPresence {
        switch LoadedSystemBus()?.hasOwner("org.freedesktop.login1") {
        case nil: .noBus
        case false: .busAlone
        case true: .present
        }
    }
}
