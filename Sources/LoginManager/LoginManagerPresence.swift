// SPDX-License-Identifier: Apache-2.0

/// What of the login manager is there, to be told.
package enum LoginManagerPresence: Sendable {
    case noBus
    /// The system bus answers, and logind is not on it.
    case busAlone
    case present

    package static var now: LoginManagerPresence {
        guard let bus = SystemBus() else { return .noBus }
        return bus.owner(of: LoginManagerWatch.service) == nil ? .busAlone : .present
    }
}
