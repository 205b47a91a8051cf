// SPDX-License-Identifier: Apache-2.0

/// Facts of the machine that no user's number is told: keychaind looks them up for workers. Each
/// look may wait for another process.
package struct MachineFacts: Sendable {
    let emptyPassword: @Sendable (_ user: UInt32) -> Bool
    let biometry: @Sendable (_ user: UInt32) -> [UInt8]
    let unitUser: @Sendable (_ unit: String) -> String?
    private let sessionUser: @Sendable (_ session: String) -> UInt32?
    private let controller: @Sendable (_ session: String) -> Int32?

    /// - Parameters:
    ///   - emptyPassword: Whether the account's password is empty.
    ///   - biometry: A digest of the enrolled fingers (`EnrolledBiometry`).
    ///   - unitUser: `User=` of a unit, as anyone may know it.
    ///   - sessionUser: The user of a login session.
    ///   - controller: The process that controls the session's screen.
    package init(
        emptyPassword: @escaping @Sendable (_ user: UInt32) -> Bool,
        biometry: @escaping @Sendable (_ user: UInt32) -> [UInt8],
        unitUser: @escaping @Sendable (_ unit: String) -> String?,
        sessionUser: @escaping @Sendable (_ session: String) -> UInt32?,
        controller: @escaping @Sendable (_ session: String) -> Int32?
    ) {
        self.emptyPassword = emptyPassword
        self.biometry = biometry
        self.unitUser = unitUser
        self.sessionUser = sessionUser
        self.controller = controller
    }

    /// nil for a session of another user's.
    func controller(of session: String, for user: UInt32) -> Int32? {
        sessionUser(session) == user ? controller(session) : nil
    }
}
