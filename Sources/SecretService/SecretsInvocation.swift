// SPDX-License-Identifier: Apache-2.0

/// What the command line asks `keychain-secrets` to be.
package enum SecretsInvocation: Equatable, Sendable {
    /// Offers the daemon's keychains.
    case daemon
    /// Offers the user's own files, and opens them first with a password from standard input.
    case embedded(unlocks: Bool)
    /// Tells, on descriptor 3, which process has the name on the bus at that address.
    case owner(address: String?)
    case help
    case wrong

    package static let usage = """
        Usage: keychain-secrets
               keychain-secrets --embedded [--unlock]
        Offers the keychain as org.freedesktop.secrets. See keychain-secrets(1).

        """

    package init(_ words: [String]) {
        self =
            switch words {
            case []: .daemon
            case ["--embedded"]: .embedded(unlocks: false)
            case ["--embedded", "--unlock"]: .embedded(unlocks: true)
            case ["--help"]: .help
            case ["--owner"]: .owner(address: nil)
            default:
                words.count == 2 && words[0] == "--owner" ? .owner(address: words[1]) : .wrong
            }
    }
}
