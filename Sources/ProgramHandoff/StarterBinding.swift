// SPDX-License-Identifier: Apache-2.0

/// What makes a connection to `keychain-starter` a user's, before `keychaind` hands it to that
/// user's process. The starter waits five seconds for the request.
package enum StarterBinding {
    /// The record that names the user. Empty, and refused by the starter, for the number that
    /// stands for no user.
    package static func request(_ user: UInt32) -> [UInt8] { (try? StartRecord.bind(user)) ?? [] }

    /// Whether the reply says that the connection is the user's.
    package static func isDone(_ reply: [UInt8]) -> Bool {
        (try? StartRecord.reply(in: reply)) == .done
    }
}
