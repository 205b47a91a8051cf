// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

/// A transaction of one PAM service with one account.
package struct AuthenticationRequest: Sendable, Equatable {
    package let service: String
    package let account: String
    /// The asking user's name, where the account is another person's.
    package let asker: String?
    /// The user whose question it is: the account's own or, for an approval, the asker's.
    package let user: UInt32

    package init(service: String, account: String, asker: String?, user: UInt32) {
        self.service = service
        self.account = account
        self.asker = asker
        self.user = user
    }
}

/// Why PAM can't be asked.
package enum StarterError: Error, Equatable, Sendable {
    /// PAM has no file for the service.
    case noService
    /// The limit of open questions is reached.
    case busy
    /// `keychain-auth` is not properly installed.
    case failed
    /// The starter is absent, does not answer in time, or has another version.
    case notAnswering
}

/// Starts `keychain-auth`, which has rights that the starting process lacks.
package protocol ProgramStarter: Sendable {
    /// `keychain-auth` gets a copy of the conversation's descriptor.
    func start(
        _ request: AuthenticationRequest, talkingOn conversation: Descriptor
    ) throws(StarterError) -> any RunningAuthentication
}

/// A running `keychain-auth`. It ends with this value.
package protocol RunningAuthentication: Sendable {
    func state(withinSeconds seconds: Double) -> AuthenticationState
    /// Ends it at once.
    func end()
}

package enum AuthenticationState: Sendable {
    case running
    case ended
    /// The process that started it has gone, and it ended too.
    case lost
}
