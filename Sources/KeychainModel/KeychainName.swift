// SPDX-License-Identifier: Apache-2.0

/// A keychain's name that is safe as a part of a path: letters, digits, `.`, `_` and `-`, at most
/// 64, not beginning with a dot.
public struct KeychainName: Sendable, Hashable, CustomStringConvertible {
    public static let login = KeychainName(verified: "login")
    /// The machine's, for every user: root's keychain for services.
    public static let system = KeychainName(verified: "system")
    public static let longest = 64

    public let description: String

    public init?(_ name: String) {
        let allowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, (1...Self.longest).contains(name.utf8.count), name.utf8.first != 0x2E
        else { return nil }
        self.init(verified: name)
    }

    private init(verified name: String) { description = name }
}
