// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// What the administrator wants of every keychain at least: a file of root's, one setting a line,
/// in the words of `keychainctl settings`. Without the file no user is bound.
package final class LockingBounds: Sendable {
    package struct Mistake: Error, Equatable, CustomStringConvertible {
        package let path: String
        /// nil where the file itself is not as it must be.
        let line: Int?
        package let words: String

        package var description: String {
            path + (line.map { ":\($0)" } ?? "") + ": " + words
        }
    }

    private static let longest = 64 * 1024

    private let path: String
    private let bounds: ShortLock<KeychainSettings>
    private let seen: Mutex<FileStatus?>

    /// Throws where the file can't be understood: what its author wanted is unknown then.
    package init(_ path: String) throws(Mistake) {
        self.path = path
        seen = Mutex(FileStatus(path))
        bounds = ShortLock(try Self.read(path))
    }

    package var now: KeychainSettings { bounds.withLock { $0 } }

    /// Takes up a changed file; where that can't be understood, what was in force stays so.
    package func loadIfChanged() throws(Mistake) {
        let state = FileStatus(path)
        let hasChanged = seen.withLock { seen in
            defer { seen = state }
            return seen != state
        }
        guard hasChanged else { return }
        let new = try Self.read(path)
        bounds.withLock { $0 = new }
    }

    private static func read(_ path: String) throws(Mistake) -> KeychainSettings {
        let file: FileContents
        do {
            file = try FileContents(reading: path, limit: longest, followingLinks: false)
        } catch {
            if error == .system(PrivateFile.notFound) { return .loosest }
            throw Mistake(path: path, line: nil, words: "can't be read")
        }
        guard file.kind == .regular, file.owner == 0, file.mode & 0o022 == 0 else {
            throw Mistake(path: path, line: nil, words: "must be a file that only root can write")
        }
        guard file.bytes.count <= longest else {
            throw Mistake(path: path, line: nil, words: "is too long")
        }
        return try settings(String(decoding: file.bytes, as: UTF8.self), path)
    }

    static func settings(_ text: String, _ path: String) throws(Mistake) -> KeychainSettings {
        var settings = KeychainSettings.loosest
        var known: Set<Substring> = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let name = words.first else { continue }
            func mistake(_ words: String) -> Mistake {
                Mistake(path: path, line: index + 1, words: words)
            }
            guard words.count == 2 else { throw mistake("a line is a name and a value") }
            guard known.insert(name).inserted else { throw mistake("\(name) is there twice") }
            // Safe: the count was checked.
            guard settings.take(String(name), String(words[1])) else {
                throw mistake("\(name) \(words[1]) makes no sense")
            }
        }
        return settings
    }
}

extension KeychainSettings {
    /// False for what is no setting, or no value of it.
    fileprivate mutating func take(_ name: String, _ value: String) -> Bool {
        let time = TimeSpan(value)?.seconds
        let answer = ["yes": true, "no": false][value]
        switch (name, time, answer) {
        case ("lock-after-idle", let seconds?, _): lockAfterIdle = seconds
        case ("lock-after", let seconds?, _): lockAfter = seconds
        case ("lock-on-sleep", _, let isSet?): locksOnSleep = isSet
        case ("lock-with-screen", _, let isSet?): locksWithScreen = isSet
        default: return false
        }
        return true
    }
}
