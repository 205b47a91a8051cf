// SPDX-License-Identifier: Apache-2.0
package import AuditStores
package import KeychainActivePolicy
package import KeychainLinuxSystem
package import KeychainLocalSocket
package import KeychainModel
package import KeychainSecrets
package import ProcessBroker
package import ProgramHandoff
package import SessionVault

/// A worker's configuration: its user, its folders and connections, the programs that it knows, and its
/// sources of facts about the machine.
package struct DaemonPlan: Sendable {
    package struct Folders: Sendable {
        let state: String
        /// Of what is to be known after a new start of the worker, and ends with the boot.
        let records: String

        package init(state: String, records: String) {
            self.state = state
            self.records = records
        }
    }

    /// The user's connections, by the socket that they came to.
    package struct Connections: Sendable {
        let requests: any ConnectionSource
        let logins: any ConnectionSource
        let offers: any ConnectionSource

        package init(
            requests: any ConnectionSource, logins: any ConnectionSource,
            offers: any ConnectionSource
        ) {
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

        package init(
            name: @escaping @Sendable (UInt32) -> String?,
            groups: @escaping @Sendable (String) -> [String]?,
            groupName: @escaping @Sendable (UInt32) -> String?
        ) {
            self.name = name
            self.groups = groups
            self.groupName = groupName
        }
    }

    /// Facts that the process has no right to look up itself. The first two are its user's own.
    package struct Facts: Sendable {
        /// Whether the password of the user's account is empty.
        let hasEmptyPassword: @Sendable () -> Bool
        /// A digest of the fingers that the user has enrolled; empty where that is nothing, or
        /// unknown.
        let enrolledBiometry: @Sendable () -> [UInt8]
        /// `User=` of a unit of the system manager; nil where that is unknown.
        let unitUser: @Sendable (_ unit: String) -> String?
        /// The process that controls the screen of one of the user's login sessions; nil where
        /// there is none, or it is unknown.
        let controller: @Sendable (_ session: String) -> Int32?

        package init(
            hasEmptyPassword: @escaping @Sendable () -> Bool,
            enrolledBiometry: @escaping @Sendable () -> [UInt8],
            unitUser: @escaping @Sendable (_ unit: String) -> String?,
            controller: @escaping @Sendable (_ session: String) -> Int32?
        ) {
            self.hasEmptyPassword = hasEmptyPassword
            self.enrolledBiometry = enrolledBiometry
            self.unitUser = unitUser
            self.controller = controller
        }
    }

    /// Where connections to keychain-audit come from.
    package typealias AuditConnections = AuditFiles.Connections
    /// The same to keychain-broker, bound to the user.
    package typealias BrokerConnections = BrokerLooks.Connections

    let user: UInt32
    let folders: Folders
    let connections: Connections
    let programs: Programs
    let accounts: Accounts
    let facts: Facts
    let vaultKey: VaultKey
    let deviceKey: HeldSecret
    let audit: AuditConnections
    let broker: BrokerConnections
    /// The administrator's bounds on automatic locking, which hold for every keychain.
    let bounds: @Sendable () -> KeychainSettings
    let log: @Sendable (String) -> Void
    package var policy = ActivePolicy()
    package var connectedUsers = ConnectedUsers()
    /// Turns to use the TPM, which all workers share.
    package var tpmTurns: (any TurnGate)?
    /// The account name by which an account's keychains know their owner.
    package var nameInKeychains: @Sendable (_ account: String) -> String = { $0 }
    /// Secrets that the service manager passed to keychaind, by name.
    package var credentials: [String: HeldSecret] = [:]

    package init(
        user: UInt32, folders: Folders, connections: Connections, programs: Programs,
        accounts: Accounts, facts: Facts, vaultKey: VaultKey, deviceKey: HeldSecret,
        audit: @escaping AuditConnections, broker: @escaping BrokerConnections,
        bounds: @escaping @Sendable () -> KeychainSettings,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.user = user
        self.folders = folders
        self.connections = connections
        self.programs = programs
        self.accounts = accounts
        self.facts = facts
        self.vaultKey = vaultKey
        self.deviceKey = deviceKey
        self.audit = audit
        self.broker = broker
        self.bounds = bounds
        self.log = log
    }
}
