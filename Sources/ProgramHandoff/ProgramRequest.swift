// SPDX-License-Identifier: Apache-2.0

/// A program that the starter is to start, with what it is told.
package enum ProgramRequest: Sendable, Equatable {
    /// `keychain-auth`, with the socket of its conversation.
    case authentication(AuthenticationRequest)
    /// `keychain-import`, with a file that is open for reading and a pipe for its rows.
    case keychainFile(seconds: UInt32, user: UInt32)
    /// `keychainctl-policy compile`, with a pipe for the policy. Policies are root's.
    case policies(folders: [String])
    /// `keychain-tpm`, with the socket of its exchange.
    case tpm(TPMTask, user: UInt32)
    /// `keychain-fido`, with the socket of its exchange.
    case securityKey(SecurityKeyTask, user: UInt32)

    /// The name of the program's file.
    package var program: String {
        switch self {
        case .authentication: "keychain-auth"
        case .keychainFile: "keychain-import"
        case .policies: "keychainctl-policy"
        case .tpm: "keychain-tpm"
        case .securityKey: "keychain-fido"
        }
    }
}

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

package enum TPMTask: Sendable, Equatable {
    /// The key is bound to the values of these platform configuration registers.
    case seal(registers: [UInt8])
    case open
}

package enum SecurityKeyTask: Sendable, Equatable {
    case make
    case open
}
