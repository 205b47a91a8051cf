// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// A file of root's with two words in each line, and comments after a `#`. The daemon reloads it
/// when it changes. A missing file counts as an empty one.
package final class AdministratorFile<Value: Sendable>: Sendable {
    private let path: String
    private let meaning: @Sendable ([FileLine]) throws(FileMistake) -> Value
    private let value: ShortLock<Value>
    private let seen: Mutex<FileStatus?>

    /// Throws where the file is malformed: its author's intention is unknown then.
    init(
        _ path: String, _ meaning: @escaping @Sendable ([FileLine]) throws(FileMistake) -> Value
    ) throws(FileMistake) {
        self.path = path
        self.meaning = meaning
        seen = Mutex(FileStatus(path))
        value = ShortLock(try meaning(FileLine.all(of: path)))
    }

    /// The same where the process can't do without: a malformed file counts as `fallback`, until it is
    /// mended.
    init(
        _ path: String, orElse fallback: Value, _ log: (String) -> Void,
        _ meaning: @escaping @Sendable ([FileLine]) throws(FileMistake) -> Value
    ) {
        self.path = path
        self.meaning = meaning
        seen = Mutex(FileStatus(path))
        do { value = ShortLock(try meaning(FileLine.all(of: path))) } catch {
            log("\(error)")
            value = ShortLock(fallback)
        }
    }

    package var now: Value { value.withLock { $0 } }

    /// Reads a changed file again. Where the new text is malformed, the old value stays in force.
    package func loadIfChanged() throws(FileMistake) {
        let state = FileStatus(path)
        let hasChanged = seen.withLock { seen in
            defer { seen = state }
            return seen != state
        }
        guard hasChanged else { return }
        let new = try meaning(FileLine.all(of: path))
        value.withLock { $0 = new }
    }
}

package struct FileMistake: Error, Equatable, CustomStringConvertible {
    package let path: String
    /// nil where the mistake is in the file itself, such as its owner, rather than in a line.
    let line: Int?
    package let words: String

    package var description: String {
        path + (line.map { ":\($0)" } ?? "") + ": " + words
    }
}

struct FileLine {
    private static let longest = 64 * 1024

    let path: String
    let number: Int
    let first: String
    let second: String

    func mistake(_ words: String) -> FileMistake {
        FileMistake(path: path, line: number, words: words)
    }

    fileprivate static func all(of path: String) throws(FileMistake) -> [FileLine] {
        let file: FileContents
        do {
            file = try FileContents(reading: path, limit: longest, followingLinks: false)
        } catch {
            if error == .system(PrivateFile.notFound) { return [] }
            throw FileMistake(path: path, line: nil, words: "can't be read")
        }
        guard file.kind == .regular, file.owner == 0, file.mode & 0o022 == 0 else {
            throw FileMistake(
                path: path, line: nil, words: "must be a file that only root can write")
        }
        // Workers, which have no user's number and not root's, read it, too.
        guard file.mode & 0o004 != 0 else {
            throw FileMistake(path: path, line: nil, words: "must be readable by all (chmod a+r)")
        }
        guard file.bytes.count <= longest else {
            throw FileMistake(path: path, line: nil, words: "is too long")
        }
        return try all(in: String(decoding: file.bytes, as: UTF8.self), path)
    }

    static func all(in text: String, _ path: String) throws(FileMistake) -> [FileLine] {
        var lines: [FileLine] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard !words.isEmpty else { continue }
            guard words.count == 2 else {
                throw FileMistake(
                    path: path, line: index + 1, words: "expected two words, found \(words.count)")
            }
            // Safe: the count was checked.
            let (first, second) = (String(words[0]), String(words[1]))
            lines.append(FileLine(path: path, number: index + 1, first: first, second: second))
        }
        return lines
    }
}
