// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel

/// Files beside a keychain of work that did not come to its end: copies on their way, and folders
/// in which a file was being put together. Younger ones may still be in use.
struct Leftovers {
    static let age: TimeInterval = 60 * 60

    private let paths: [String]

    init(
        of place: KeychainPlace, in folder: KeychainFolder, olderThan age: TimeInterval = age
    ) {
        let keychain = URL(fileURLWithPath: folder.filePath(place.name, place.user))
        let parent = keychain.deletingLastPathComponent().path
        let name = keychain.lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let found = names.filter {
            $0.hasPrefix("." + name + ".") || Self.isPassing($0, of: name)
        }
        paths = found.map { parent + "/" + $0 }.filter { path in
            let facts = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = facts?[.modificationDate] as? Date else { return false }
            return Date().timeIntervalSince(changed) > age
        }
    }

    /// `login.keychain.backup-` and 32 digits, and what SQLite lays beside it: never the file of a
    /// keychain, whose name may begin in the same way.
    private static func isPassing(_ file: String, of name: String) -> Bool {
        for kind in [".backup-", ".incoming-"] where file.hasPrefix(name + kind) {
            var rest = file.dropFirst(name.count + kind.count)
            for ending in ["-wal", "-shm", "-journal"] where rest.hasSuffix(ending) {
                rest = rest.dropLast(ending.count)
            }
            let isDigits = rest.allSatisfy { $0.isASCII && $0.isHexDigit }
            if rest == "new" || (isDigits && rest.count == 2 * BackupTransfer.identifierBytes) {
                return true
            }
        }
        return false
    }

    var count: Int { paths.count }

    func remove() { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
}
