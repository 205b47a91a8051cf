// SPDX-License-Identifier: Apache-2.0

/// What lies in the folders of the service, by the names that all its processes know.
package enum ServiceFolder {
    /// Of the state folder: each user may go to the files that all may read.
    package static let stateMode: UInt32 = 0o711
    /// In the state folder, of `keychain-audit`.
    package static let audit = "audit"
    /// In the state folder: the device's own key.
    package static let deviceKey = "device.key"

    // In the runtime folder.

    /// Root's alone: vault keys, where no service manager stores them.
    package static let `private` = "private"
    /// A folder for each user with what outlives the user's worker, of the worker's own number.
    package static let users = "users"
    package static let usersMode: UInt32 = 0o711
    package static let starterSocket = "starter.sock"
    package static let brokerSocket = "broker.sock"
    package static let auditSocket = "audit.sock"
    /// A connection to it is a new worker.
    package static let workerSocket = "worker.sock"
}
