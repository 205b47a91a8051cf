// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import AccountDatabase
internal import PAMSession

/// What the command line may ask for.
struct Invocation {
    private static let prefix = "keychain-"
    private static let longestName = 32

    /// Where the account's person approves what another person asks for.
    private static let approval = "keychain-approval"

    let service: String
    let account: String
    /// The other person.
    let asker: String?

    /// Only services of ours, so that no user is asked in the name of `su`. The names come from
    /// what works for the user, and the number from what knows that user: it is the account's own,
    /// or that of an approval's asker, whose approval is another person's, under whatever name.
    /// Where this does not run as root, the account is one's own, and no approval is asked for.
    init?(_ arguments: [String]) {
        guard arguments.count >= 4, Self.isOurs(arguments[1]),
            let user = Self.number(arguments[2]), let account = Self.account(arguments[3])
        else { return nil }
        service = arguments[1]
        self.account = account.name
        guard service == Self.approval else {
            guard arguments.count == 4, account.user == user,
                geteuid() == 0 || account.user == getuid()
            else { return nil }
            asker = nil
            return
        }
        guard arguments.count == 5, let other = Self.account(arguments[4]), other.user == user,
            geteuid() == 0, other.user != account.user
        else { return nil }
        asker = other.name
    }

    /// A number as `keychain-starter` writes it, and in no other way.
    private static func number(_ text: String) -> UInt32? {
        UInt32(text).flatMap { String($0) == text ? $0 : nil }
    }

    private static func account(_ name: String) -> Account? {
        Account.named(name).flatMap { $0.name == name ? $0 : nil }
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
