// SPDX-License-Identifier: Apache-2.0

/// An application by the name that its sandbox gives it, as the desktop's portal passes it on.
package struct PortalApplication: Sendable, Hashable {
    package static let longest = 255
    /// Where distributions install xdg-desktop-portal.
    package static let portals = [
        "/usr/libexec/xdg-desktop-portal", "/usr/lib/xdg-desktop-portal",
    ]

    package let name: String

    /// nil for an invalid name. A valid one consists of non-empty parts of letters, digits, `-` and
    /// `_`, separated by dots.
    package init?(_ name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.utf8.count <= Self.longest,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) })
        else { return nil }
        self.name = name
    }

    /// The application's identifier in the keychain, and the access group of its secret.
    package var identifier: String { "portal:" + name }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
