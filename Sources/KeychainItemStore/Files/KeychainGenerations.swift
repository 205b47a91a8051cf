// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem

/// Earlier states of a keychain's file, kept beside it: `login.keychain.generation-7`. The number
/// rises; once a change is done, the newest three stay.
package struct KeychainGenerations: Sendable {
    package static let most = 3
    private static let numbers = 1...Int(Int32.max)

    package struct Generation: Sendable, Equatable {
        package let number: Int
        package let path: String
        /// When the copy was begun, since 1970.
        package let made: Duration
        package let bytes: Int
    }

    private let path: String

    package init(of path: String) { self.path = path }

    /// The newest first; empty where the folder can't be read.
    package var all: [Generation] { (try? list()) ?? [] }

    private func list() throws(KeychainStoreError) -> [Generation] {
        let (folder, name) = Self.parts(path)
        let prefix = name + ".generation-"
        let names: [String]
        do { names = try FolderNames.complete(in: folder) } catch { throw .init(error) }
        let found = names.compactMap { name -> Generation? in
            guard let number = Self.number(name, prefix: prefix) else { return nil }
            return Self.generation(number, folder + name)
        }
        return found.sorted { $0.number > $1.number }
    }

    /// Keeps the present state as a new generation, which is whole and on the disk on return. All
    /// older ones stay, as the change that follows may fail: `prune` is for the time after it.
    @discardableResult
    package func keep() throws(KeychainStoreError) -> Generation {
        // In a folder of the user's own, any program may have made a file with any number.
        let (number, isOver) = (try list().first?.number ?? 0).addingReportingOverflow(1)
        guard !isOver, Self.numbers.contains(number) else { throw .tooLarge }
        let target = "\(path).generation-\(number)"
        try KeychainCopy.make(of: path, at: target)
        guard let made = Self.generation(number, target) else { throw .inputOutput(0) }
        return made
    }

    /// Runs `body` in a transaction; it may keep the present state before it changes anything.
    /// Where the change fails, the keychain still has that state, and its generation is removed
    /// again: otherwise tries that fail would push out the earlier states. It stays where the disk
    /// did not confirm the commit, which may be on it.
    func transaction<R>(
        on database: Connection, _ body: (_ keep: () throws -> Generation) throws -> R
    ) throws -> R {
        var kept: Generation?
        var isChanged = false
        do {
            return try database.transaction {
                let result = try body {
                    let made = try keep()
                    kept = made
                    return made
                }
                isChanged = true
                return result
            }
        } catch {
            let mayBeDone = isChanged && (error as? DatabaseError)?.kind == .inputOutput
            if let kept, !mayBeDone { remove(kept) }
            throw error
        }
    }

    /// Removes all but the newest three.
    package func prune() { for old in all.dropFirst(Self.most) { remove(old) } }

    func remove(_ generation: Generation) { FolderNames.remove(generation.path) }

    /// Keeps a generation where the keychain has changed since the last one, and the last one is
    /// older than `age`.
    @discardableResult
    package func keepIfDue(
        now: Duration = WallClock.now, after age: Duration = .seconds(24 * 60 * 60)
    ) throws(KeychainStoreError) -> Generation? {
        if let newest = all.first {
            // Safe: a Duration holds the difference of any two times of files.
            guard now - newest.made >= age else { return nil }
            // SQLite writes to the log first, and to the file some time later.
            let changes = [path, path + "-wal"].compactMap { FileStatus($0)?.changed }
            guard changes.contains(where: { $0 >= newest.made }) else { return nil }
        }
        let kept = try keep()
        prune()
        return kept
    }

    /// Whether a file of that name is a generation of the keychain whose file is called `keychain`.
    package static func isGeneration(_ name: String, of keychain: String) -> Bool {
        number(name, prefix: keychain + ".generation-") != nil
    }

    private static func number(_ name: String, prefix: String) -> Int? {
        // Safe: parses a text; nil where it is no number.
        guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)),
            numbers.contains(number), name == prefix + String(number)
        else { return nil }
        return number
    }

    private static func generation(_ number: Int, _ path: String) -> Generation? {
        guard let status = FileStatus(path), status.kind == .file else { return nil }
        return Generation(number: number, path: path, made: status.changed, bytes: status.size)
    }

    /// The folder, up to its last slash, and the name in it.
    private static func parts(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("./", path) }
        return (String(path[...slash]), String(path[path.index(after: slash)...]))
    }
}
