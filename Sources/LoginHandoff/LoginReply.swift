// SPDX-License-Identifier: Apache-2.0

/// The daemon's answer. A login waits for it, so it is sent before any key is derived.
package enum LoginReply: Sendable, Equatable {
    case accepted
    case acceptedWithNotice(LoginNotice)
    case refused(LoginRefusal)
    /// Whose the user's ticket is to be, the answer to `LoginRequest.number` alone; 0 for root's.
    case number(UInt32)
}

/// A notice that the module shows to the user.
package enum LoginNotice: UInt16, Sendable, CaseIterable {
    /// A login's password did not open the keychain, or root has replaced it.
    case passwordDiffers = 1
}

/// The reason of a refusal. The module logs it and lets the login go on.
package enum LoginRefusal: UInt16, Sendable, CaseIterable {
    case wrongPassword = 1
    case busy = 3
    case internalError = 4
    case notAllowed = 5
    case badRequest = 6
    case noSession = 7
    /// The daemon is older than the module, or the module older than the daemon.
    case olderService = 8
    case olderModule = 9

    /// The refusal for a message that can't be read; nil where the peer could not receive or
    /// understand one.
    package init?(_ error: LoginHandoffError) {
        switch error {
        case .newer: self = .olderService
        case .older: self = .olderModule
        case .malformed, .tooLong: self = .badRequest
        case .foreign, .closed, .timedOut, .system: return nil
        }
    }
}
