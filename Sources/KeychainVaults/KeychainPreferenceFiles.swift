// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainLinuxSystem
internal import KeychainSecrets

/// What users have said about keychains that calls don't name: a file of lines in each one's folder.
///
/// The daemon is the only one to write them, and reads each once. In embedded mode other processes
/// write too, and each call looks anew.
package final class KeychainPreferenceFiles: Sendable {
    /// Users whose preferences are remembered.
    private static let mostKnown = 1024
    private static let longest = 16 * 1024
    private static let firstLine = "keychain preferences 1"

    private let isShared: Bool
    private let known = ShortLock<[UInt32: KeychainPreferences]>([:])

    init(isShared: Bool) { self.isShared = isShared }

    /// A file that makes no sense says nothing.
    package func load(
        for user: UInt32, from folder: @autoclosure () -> String
    ) -> KeychainPreferences {
        if let known = known.withLock({ $0[user] }) { return known }
        let preferences = Self.text(at: Self.path(folder())).flatMap(Self.preferences) ?? .standard
        remember(preferences, of: user)
        return preferences
    }

    private static func text(at path: String) -> String? {
        guard let kept = try? PrivateFile.read(path, limit: longest) else { return nil }
        return String(decoding: kept.releasedFromLockedMemory(), as: UTF8.self)
    }

    package func save(
        _ preferences: KeychainPreferences, for user: UInt32, in folder: String
    ) throws(SystemError) {
        let path = Self.path(folder)
        let new = path + ".new"
        // Of a writing that was cut off.
        PrivateFile.remove(new)
        try PrivateFile.create(
            new, contents: SecretBytes(copying: Array(Self.text(preferences).utf8)))
        try PrivateFile.publish(new, as: path, replacing: true)
        remember(preferences, of: user)
    }

    private func remember(_ preferences: KeychainPreferences, of user: UInt32) {
        guard !isShared else { return }
        known.withLock { known in
            if known.count >= Self.mostKnown { known.removeAll() }
            known[user] = preferences
        }
    }

    private static func path(_ folder: String) -> String { folder + "/preferences" }

    // MARK: The text

    package static func text(_ preferences: KeychainPreferences) -> String {
        let named = preferences.defaultKeychain.map { ["default \($0)"] } ?? []
        let lines = [firstLine] + named + preferences.searchList.map { "search \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// nil for anything that `text` does not give.
    package static func preferences(_ text: String) -> KeychainPreferences? {
        var preferences = KeychainPreferences(defaultKeychain: nil, searchList: [])
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == firstLine[...], lines.popLast() == "" else { return nil }
        for line in lines {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            // Safe: the count is checked first.
            guard words.count == 2, let name = KeychainName(String(words[1])) else { return nil }
            // Safe: the count was checked.
            switch words[0] {
            case "default" where preferences.defaultKeychain == nil:
                preferences.defaultKeychain = name
            case "search" where !preferences.searchList.contains(name):
                preferences.searchList.append(name)
            default: return nil
            }
        }
        return preferences.searchList.count <= KeychainPreferences.mostSearched
            ? preferences : nil
    }
}
