// SPDX-License-Identifier: Apache-2.0

/// The names that renamed accounts had when their keychains were made: lines with the former and
/// the present name.
///
/// A keychain belongs to an account by number and name, since a number alone may be given to
/// another person. Only an administrator knows whether an account was renamed or its number
/// reassigned.
package struct RenamedAccounts: Sendable {
    package static let path = "/etc/keychain/renamed-accounts"

    private let former: [String: String]

    package static func file(
        _ path: String
    ) throws(FileMistake) -> AdministratorFile<RenamedAccounts> {
        try AdministratorFile(path) { lines throws(FileMistake) in try RenamedAccounts(lines) }
    }

    /// While the file has a mistake, no account was renamed.
    package static func file(
        _ path: String, _ log: (String) -> Void
    ) -> AdministratorFile<RenamedAccounts> {
        AdministratorFile(path, orElse: RenamedAccounts(former: [:]), log) {
            lines throws(FileMistake) in try RenamedAccounts(lines)
        }
    }

    private init(former: [String: String]) { self.former = former }

    init(_ lines: [FileLine]) throws(FileMistake) {
        var former: [String: String] = [:]
        for line in lines {
            guard former.updateValue(line.first, forKey: line.second) == nil else {
                throw line.mistake("\(line.second) is there twice")
            }
        }
        self.former = former
    }

    /// The account name by which an account's keychains know their owner.
    package func name(of account: String) -> String { former[account] ?? account }
}
