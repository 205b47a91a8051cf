// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The address of a user's bus: a socket of this machine.
///
/// The library knows other kinds of address, among them one that starts a program. This process may
/// have a group that its user lacks, and that program would get it.
package struct BusAddress: Equatable, Sendable {
    package static let variable = "DBUS_SESSION_BUS_ADDRESS"
    private static let longest = 4096
    private static let kinds = ["unix:path=/", "unix:abstract="]

    package let text: String

    /// The first address of a list that is a socket; nil where none is.
    package init?(_ list: String) {
        guard list.utf8.count <= Self.longest else { return nil }
        let addresses = list.split(separator: ";").map(String.init)
        guard
            let found = addresses.first(where: { address in
                Self.kinds.contains { address.hasPrefix($0) }
            })
        else { return nil }
        text = found
    }

    /// The address of the user's own bus.
    package init(ofUser user: UInt32) { text = "unix:path=/run/user/\(user)/bus" }

    /// The address in the environment, else the user's own.
    package static func ofThisProcess(user: UInt32) -> BusAddress? {
        guard let named = ProcessEnvironment.userSays(variable) else {
            return BusAddress(ofUser: user)
        }
        return BusAddress(named)
    }
}
