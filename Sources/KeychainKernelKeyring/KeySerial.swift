// SPDX-License-Identifier: Apache-2.0

/// A key or keyring by its number in the kernel; the special ones are negative.
package struct KeySerial: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Gone when the thread ends.
    package static let threadKeyring = KeySerial(rawValue: -1)
    /// Shared by all processes of a user id.
    package static let userKeyring = KeySerial(rawValue: -4)
}

/// What the kernel tells of a key without its content.
package struct KeyDescription: Sendable, Equatable {
    package let type: String
    package let user: UInt32
    package let group: UInt32
    /// Four bytes of rights: possessor, owner, group, others.
    package let permissions: UInt32
    package let description: String

    /// `type;uid;gid;perm;description`, as KEYCTL_DESCRIBE writes it.
    init?(_ text: String) {
        let parts = text.split(separator: ";", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let user = UInt32(parts[1]), let group = UInt32(parts[2]),
            let permissions = UInt32(parts[3], radix: 16)
        else { return nil }
        type = String(parts[0])
        self.user = user
        self.group = group
        self.permissions = permissions
        description = String(parts[4])
    }
}
