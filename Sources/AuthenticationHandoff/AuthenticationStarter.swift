// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// A transaction of one PAM service with one account.
package struct AuthenticationRequest: Sendable, Equatable {
    package let service: String
    package let account: String
    /// Who asks, where that is another person than the account's.
    package let asker: String?
    /// Whose question it is: the account's own user or, of an approval, the asker's.
    package let user: UInt32

    package init(service: String, account: String, asker: String?, user: UInt32) {
        self.service = service
        self.account = account
        self.asker = asker
        self.user = user
    }
}

/// Why PAM is not asked.
package enum StarterError: Error, Equatable, Sendable {
    /// PAM has no file for the service.
    case noService
    /// As many questions are open as may be.
    case busy
    /// `keychain-auth` is not installed as it should be.
    case failed
    /// It is not there, does not answer in time, or is another version's.
    case notAnswering
}

/// Starts `keychain-auth`, which has rights that its asker has not.
package protocol AuthenticationStarter: Sendable {
    /// `keychain-auth` talks on a copy of the conversation.
    func start(
        _ request: AuthenticationRequest, talkingOn conversation: Descriptor
    ) throws(StarterError) -> any RunningAuthentication
}

/// A `keychain-auth` that was started. It ends with this value.
package protocol RunningAuthentication: Sendable {
    func state(withinSeconds seconds: Double) -> AuthenticationState
    /// Ends it at once.
    func end()
}

package enum AuthenticationState: Sendable {
    case running
    case ended
    /// What started it is gone, and it with that.
    case lost
}
