// SPDX-License-Identifier: Apache-2.0
package import KeychainActivePolicy
package import KeychainLinuxSystem
package import KeychainLocalSocket
package import KeychainModel
package import KeychainSecrets
package import ProgramHandoff

/// A daemon's configuration: its folders, its sockets and programs, and its sources of facts about
/// the machine.
package struct DaemonPlan: Sendable {
    package struct Folders: Sendable {
        let state: String
        let runtime: String

        package init(state: String, runtime: String) {
            self.state = state
            self.runtime = runtime
        }
    }

    package struct Listeners: Sendable {
        let requests: Listener
        let logins: Listener
        let offers: Listener

        package init(requests: Listener, logins: Listener, offers: Listener) {
            self.requests = requests
            self.logins = logins
            self.offers = offers
        }
    }

    /// Programs that the daemon knows, and what starts those that work for it.
    package struct Programs: Sendable {
        let prompter: String
        /// The deputy, which makes requests for programs of the user's bus.
        let deputy: String
        let starter: any ProgramStarter
        /// Whether the machine has what speaks to a TPM, and to security keys.
        let hasTPM: Bool
        let hasSecurityKeys: Bool

        package init(
            prompter: String, deputy: String, starter: any ProgramStarter, hasTPM: Bool,
            hasSecurityKeys: Bool
        ) {
            self.prompter = prompter
            self.deputy = deputy
            self.starter = starter
            self.hasTPM = hasTPM
            self.hasSecurityKeys = hasSecurityKeys
        }
    }

    /// The machine's accounts.
    package struct Accounts: Sendable {
        let name: @Sendable (UInt32) -> String?
        /// Names of all groups of an account; nil where they can't be looked up.
        let groups: @Sendable (String) -> [String]?
        let groupName: @Sendable (UInt32) -> String?
        /// Whether the account's password is empty.
        let hasEmptyPassword: @Sendable (String) -> Bool

        package init(
            name: @escaping @Sendable (UInt32) -> String?,
            groups: @escaping @Sendable (String) -> [String]?,
            groupName: @escaping @Sendable (UInt32) -> String?,
            hasEmptyPassword: @escaping @Sendable (String) -> Bool
        ) {
            self.name = name
            self.groups = groups
            self.groupName = groupName
            self.hasEmptyPassword = hasEmptyPassword
        }
    }

    /// The socket of `keychain-starter` in the runtime folder.
    package static let starterSocket = "starter.sock"
    /// The socket of `keychain-broker` in the runtime folder.
    package static let brokerSocket = "broker.sock"
    /// The socket of `keychain-audit` in the runtime folder.
    package static let auditSocket = "audit.sock"
    /// The folder of `keychain-audit` in the state folder.
    package static let auditFolder = "audit"

    let folders: Folders
    let listeners: Listeners
    let programs: Programs
    let accounts: Accounts
    /// The administrator's bounds on automatic locking, which hold for every keychain.
    let bounds: @Sendable () -> KeychainSettings
    let log: @Sendable (String) -> Void
    package var policy = ActivePolicy()
    /// The account name by which an account's keychains know their owner.
    package var nameInKeychains: @Sendable (_ account: String) -> String = { $0 }
    /// The vault key, where the service manager has stored it for the daemon.
    package var vaultKey: Descriptor?
    /// Secrets that the service manager passed at the start, by name.
    package var credentials: [String: HeldSecret] = [:]

    package init(
        folders: Folders, listeners: Listeners, programs: Programs, accounts: Accounts,
        bounds: @escaping @Sendable () -> KeychainSettings,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.folders = folders
        self.listeners = listeners
        self.programs = programs
        self.accounts = accounts
        self.bounds = bounds
        self.log = log
    }

    /// The plan after the vault key was read once and closed.
    var withoutVaultKey: DaemonPlan {
        var plan = self
        plan.vaultKey = nil
        return plan
    }
}
