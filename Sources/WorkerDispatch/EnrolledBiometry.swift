// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// A user's fingers enrolled in fprintd, as one digest over its files, which only root can read.
/// Each finger more or less changes the digest. The folders' times of change count too: an item
/// bound to a set of fingers must not open again after a finger was added and removed.
package enum EnrolledBiometry {
    /// fprintd's own folder.
    package static let folder = "/var/lib/fprint"
    private static let mostFiles = 256
    private static let largestFile = 4 * 1024 * 1024

    /// The digest; empty where nothing is enrolled, or it can't be told.
    package static func state(of account: String, in folder: String = folder) -> [UInt8] {
        guard !account.isEmpty, !account.contains("/"), account != ".", account != ".." else {
            return []
        }
        let own = folder + "/" + account
        var files: [String] = []
        var folders = [(name: "", changed: changed(own))]
        // Safe: `next` is an index where it is used, and grows no further than `mostFiles`.
        var next = 0
        while next < folders.count {
            let folder = folders[next].name
            for name in FolderNames.all(in: own + "/" + folder) {
                let inner = folder.isEmpty ? name : folder + "/" + name
                switch FileStatus(own + "/" + inner)?.kind {
                case .file: files.append(inner)
                case .folder: folders.append((inner, changed(own + "/" + inner)))
                case .other, nil: continue
                }
                guard files.count + folders.count <= mostFiles else { return [] }
            }
            next += 1
        }
        guard !files.isEmpty else { return [] }
        var digests: [UInt8] = []
        for name in files.sorted() {
            guard
                let content = try? FileContents(
                    reading: own + "/" + name, limit: largestFile, followingLinks: false
                ).bytes,
                content.count <= largestFile
            else { return [] }
            digests += KeyedHash.fingerprint(Array(name.utf8))
            digests += KeyedHash.fingerprint(content)
        }
        for folder in folders.sorted(by: { $0.name < $1.name }) {
            digests += KeyedHash.fingerprint(Array("\(folder.name)\n\(folder.changed)".utf8))
        }
        return KeyedHash.fingerprint(digests)
    }

    /// The time of change in seconds since 1970; 0 where it can't be told. Items are bound to the
    /// digest of this number's text, so its format must not change.
    private static func changed(_ folder: String) -> Double {
        let facts = try? FileManager.default.attributesOfItem(atPath: folder)
        return (facts?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    }
}
