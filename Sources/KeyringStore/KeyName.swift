// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

/// The names of the keys below a user's keyring, `KIND:KEYCHAIN`, `KIND:SESSION` or
/// `KIND:SESSION:KEYCHAIN`, and how many there are of a kind.
///
/// The kernel gives a number 200 keys and 20,000 bytes, names included. Whatever one user does,
/// these stay below both.
package enum KeyName {
    package enum Kind: String, CaseIterable, Sendable {
        /// When-unlocked keys, of a login.
        case unlock
        case firstUnlock = "first-unlock"
        /// When-unlocked keys of the machine's keychain.
        case machine
        /// Keys of a login's password that differed.
        case renewal
        /// What stands in for a login's ticket.
        case half

        /// What the names of the kind begin with.
        package var prefix: String { rawValue + ":" }

        package var most: Int {
            switch self {
            case .unlock: 48
            case .firstUnlock: 32
            case .machine: 1
            case .renewal: 4
            case .half: 8
            }
        }
    }

    /// The most logins of one user, each with a ticket that counts among the keys.
    package static let mostLogins = 32

    /// The most bytes of a keychain's name that are a part of a key's name as they are.
    private static let longestPart = 32
    private static let digestBytes = 16
    /// Begins what stands for a longer name; no keychain's name has it.
    private static let digestMark = "#"

    package static func unlock(_ session: SessionID, _ keychain: KeychainName) -> String {
        unlocks(of: session) + part(keychain)
    }

    /// What the names of a login's unlocks begin with.
    package static func unlocks(of session: SessionID) -> String {
        Kind.unlock.prefix + "\(session.rawValue):"
    }

    package static func renewal(_ session: SessionID, _ keychain: KeychainName) -> String {
        renewals(of: session) + part(keychain)
    }

    package static func renewals(of session: SessionID) -> String {
        Kind.renewal.prefix + "\(session.rawValue):"
    }

    package static func half(_ session: SessionID) -> String {
        Kind.half.prefix + "\(session.rawValue)"
    }

    package static func firstUnlock(_ keychain: KeychainName) -> String {
        Kind.firstUnlock.prefix + part(keychain)
    }

    package static func machine(_ keychain: KeychainName) -> String {
        Kind.machine.prefix + part(keychain)
    }

    /// The session in the name of an unlock, a renewal or a half.
    package static func session(of name: String) -> SessionID? {
        let parts = name.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return nil }
        // Safe: parses a text; nil where it is no number.
        return Int32(parts[1]).map(SessionID.init(rawValue:))
    }

    /// Whether the name is of a key of the keychain's.
    package static func isOf(_ keychain: KeychainName, _ name: String) -> Bool {
        name.hasSuffix(":" + part(keychain))
    }

    /// The keychain of a key of that name. `known` has the user's keychains, where the key's name
    /// has a digest in the place of the keychain's.
    package static func keychain(
        of name: String, among known: () -> [KeychainName]
    ) -> KeychainName? {
        guard let last = name.split(separator: ":", omittingEmptySubsequences: false).last else {
            return nil
        }
        guard last.hasPrefix(digestMark) else { return KeychainName(String(last)) }
        return known().first { part($0) == last }
    }

    private static func part(_ keychain: KeychainName) -> String {
        let name = keychain.description
        guard name.utf8.count > longestPart else { return name }
        return digestMark
            + KeyedHash.fingerprint(Array(name.utf8), count: digestBytes).hexadecimal
    }
}
