// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import AccountDatabase
internal import PAMSession

/// What the command line may ask for.
struct Invocation {
    private static let prefix = "keychain-"
    private static let longestName = 32

    let service: String
    let account: String

    /// Only services of ours, so that no user is asked in the name of `su`; only one's own account
    /// where this does not run as root.
    init?(_ arguments: [String]) {
        guard arguments.count == 3, Self.isOurs(arguments[1]),
            let account = Account.named(arguments[2]), account.name == arguments[2],
            geteuid() == 0 || account.user == getuid()
        else { return nil }
        service = arguments[1]
        self.account = account.name
    }

    private static func isOurs(_ service: String) -> Bool {
        guard service.hasPrefix(prefix) else { return false }
        let name = service.utf8.dropFirst(prefix.utf8.count)
        return (1...longestName).contains(name.count)
            && name.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }
}
