// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// A keychain on the command line: its name, or a path, of which only the last part counts, since
/// the service decides where keychains are.
struct KeychainWord {
    /// The word as it was typed.
    let typed: String
    /// The service's name for it. The service refuses a name that no keychain can have.
    let name: String

    private static let suffixes = [".keychain-db", ".keychain"]

    init(_ typed: String) {
        self.typed = typed
        var name = typed.split(separator: "/").last.map(String.init) ?? typed
        for suffix in Self.suffixes where name.hasSuffix(suffix) {
            name = String(name.dropLast(suffix.count))
            break
        }
        self.name = name == "System" ? KeychainName.system.description : name
    }
}
