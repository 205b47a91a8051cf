// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// A keychain as a command line names it: by its name, or by a path, of which only the last part
/// counts, as keychains lie where the service keeps them.
struct KeychainWord {
    /// As it was typed.
    let typed: String
    /// The service's name; one that can't be any is left to the service to refuse.
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
