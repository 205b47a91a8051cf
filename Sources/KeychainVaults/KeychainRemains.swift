// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
package import KeychainModel
internal import KeychainItemStore

/// The files beside the place of a keychain's file: earlier generations, files set aside,
/// unfinished copies, and SQLite's logs.
///
/// While any of them exists and the keychain's file does not, no new keychain is made under the
/// name. It would look like the old one emptied, its user would never learn of the remains, and the
/// device secret that they need would be replaced. The same holds for a deleted keychain while it
/// can be restored.
package struct KeychainRemains {
    package private(set) var generations: [String] = []
    /// `login.keychain.damaged-1`: a file that could not be read at a restore.
    package private(set) var setAside: [String] = []
    /// The restored file, about to take the keychain's place.
    private(set) var incoming: [String] = []
    /// Unfinished copies of backups and restores.
    package private(set) var transfers: [String] = []
    /// SQLite's logs, with changes that are not in the file yet.
    private(set) var logs: [String] = []
    /// The keychain's user had it deleted; for a while its generations stay.
    package private(set) var isDeleted = false

    /// Throws where the folder can't be read: it may have remains.
    package init(of path: String) throws(RequestError) {
        let names: [String]
        do { names = try FolderNames.complete(in: Self.split(path).folder) } catch {
            throw RequestError(error)
        }
        self.init(of: path, among: names)
    }

    /// Of a keychain whose folder was listed before. `files` may have names of other keychains.
    package init(of path: String, among files: [String]) {
        let (folder, keychain) = Self.split(path)
        for name in files.sorted() where name.hasPrefix(keychain) {
            let rest = name.dropFirst(keychain.count)
            if KeychainGenerations.isGeneration(name, of: keychain) {
                generations.append(name)
            } else if rest == Self.newest {
                incoming.append(name)
            } else if rest == Self.deleted {
                isDeleted = true
            } else if Self.isPassing(name, of: keychain), !Self.isSideFile(rest) {
                transfers.append(name)
            } else if Self.isSetAside(rest) {
                setAside.append(name)
            } else if Self.logEndings.contains(String(rest)), Self.hasContent(folder + "/" + name) {
                logs.append(name)
            }
        }
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    package var isEmpty: Bool { all.isEmpty }
    /// Whether only unfinished copies exist: the keychain was never here, or is gone.
    package var isOfTransfersAlone: Bool { all.count == transfers.count }
    package var all: [String] { generations + setAside + incoming + transfers + logs }

    // MARK: Names

    static func incomingPath(_ path: String) -> String { path + newest }
    static func deletionMark(_ path: String) -> String { path + deleted }

    /// A name that no file set aside has yet.
    static func pathAside(_ path: String) -> String {
        // Some number is free: no folder has as many files as the range has numbers.
        let free = (1...Int.max).first { number in
            ([""] + logEndings).allSatisfy {
                FileStatus("\(path)\(aside)\(number)\($0)") == nil
            }
        }
        return "\(path)\(aside)\(free ?? 0)"
    }

    private static let newest = ".incoming-new"
    private static let deleted = ".deleted"
    private static let aside = ".damaged-"
    private static let logEndings = ["-wal", "-journal"]
    private static let sideEndings = ["-wal", "-shm", "-journal"]

    /// Whether the file is a temporary copy: `login.keychain.backup-` and 32 digits, or a file that
    /// SQLite lays beside one. The file of a keychain never matches, even if its name begins in the
    /// same way.
    package static func isPassing(_ file: String, of name: String) -> Bool {
        for kind in [".backup-", ".incoming-"] where file.hasPrefix(name + kind) {
            var rest = file.dropFirst(name.count + kind.count)
            for ending in sideEndings where rest.hasSuffix(ending) {
                rest = rest.dropLast(ending.count)
            }
            let isDigits = rest.allSatisfy { $0.isASCII && $0.isHexDigit }
            if rest == "new" || (isDigits && rest.count == 2 * BackupTransfer.identifierBytes) {
                return true
            }
        }
        return false
    }

    /// The keychain that a file lies beside, or a folder in which it is made, by its name; nil for
    /// all others.
    package static func keychain(of file: String) -> KeychainName? {
        let file = file.hasPrefix(".") ? String(file.dropFirst()) : file
        for log in logEndings.map({ ".keychain" + $0 }) where file.hasSuffix(log) {
            return KeychainName(String(file.dropLast(log.count)))
        }
        guard let end = file.indices.last(where: { file[$0...].hasPrefix(".keychain.") }) else {
            return nil
        }
        return KeychainName(String(file[..<end]))
    }

    private static func isSideFile(_ rest: Substring) -> Bool {
        sideEndings.contains(where: rest.hasSuffix)
    }

    private static func isSetAside(_ rest: Substring) -> Bool {
        guard rest.hasPrefix(aside) else { return false }
        var digits = rest.dropFirst(aside.count)
        for ending in logEndings where digits.hasSuffix(ending) {
            digits = digits.dropLast(ending.count)
        }
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static func hasContent(_ path: String) -> Bool {
        (FileStatus(path)?.size ?? 0) > 0
    }
}
