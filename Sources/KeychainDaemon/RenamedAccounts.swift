// SPDX-License-Identifier: Apache-2.0

/// The names that renamed accounts had when their keychains were made: lines of the former name and
/// the name of today.
///
/// A keychain is its account's by number and name, since the number alone may be given to another
/// person. Only an administrator knows which of the two has happened.
package struct RenamedAccounts: Sendable {
    private let former: [String: String]

    package static func file(
        _ path: String
    ) throws(FileMistake) -> AdministratorFile<RenamedAccounts> {
        try AdministratorFile(path) { lines throws(FileMistake) in try RenamedAccounts(lines) }
    }

    init(_ lines: [FileLine]) throws(FileMistake) {
        var former: [String: String] = [:]
        for line in lines {
            guard former.updateValue(line.first, forKey: line.second) == nil else {
                throw line.mistake("\(line.second) is there twice")
            }
        }
        self.former = former
    }

    /// What an account is called in its keychains.
    package func name(of account: String) -> String { former[account] ?? account }
}
