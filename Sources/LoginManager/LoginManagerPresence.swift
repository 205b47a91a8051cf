// SPDX-License-Identifier: Apache-2.0

/// Whether the bus and the login manager are there, for a report.
package enum LoginManagerPresence: Sendable {
    case noBus
    /// The system bus answers, but logind is not on it.
    case busAlone
    case present

    package static var now: LoginManagerPresence {
        guard let bus = SystemBus() else { return .noBus }
        return bus.owner(of: LoginManagerWatch.service) == nil ? .busAlone : .present
    }
}
