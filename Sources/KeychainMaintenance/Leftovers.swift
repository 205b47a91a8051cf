// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
package import KeychainVaults

/// Files beside a keychain that unfinished work has left: copies in transfer, and folders in which
/// a file was being made. Younger ones may still be in use.
///
/// Where the keychain's own file is gone, they may be the last of it, and so none counts as a
/// leftover, unless the keychain never existed: then there are only pieces of a transfer.
package struct Leftovers {
    package static let age: Duration = .seconds(60 * 60)

    private let paths: [String]

    package init(
        of id: KeychainID, in folder: KeychainFolder, olderThan age: Duration = age
    ) {
        // Of a folder that can't be read nothing is a leftover: there may be remains.
        let files = (try? FolderNames.complete(in: folder.folder(id.user))) ?? []
        self.init(of: id, in: folder, among: files, olderThan: age)
    }

    /// Of a keychain whose folder was listed before. `files` may have names of other keychains.
    package init(
        of id: KeychainID, in folder: KeychainFolder, among files: [String],
        olderThan age: Duration
    ) {
        let parent = folder.folder(id.user)
        let name = "\(id.name).keychain"
        let remains = KeychainRemains(of: parent + "/" + name, among: files)
        guard folder.exists(id.name, of: id.user) || remains.isOfTransfersAlone else {
            paths = []
            return
        }
        let found = files.filter {
            $0.hasPrefix("." + name + ".") || KeychainRemains.isPassing($0, of: name)
        }
        paths = found.map { parent + "/" + $0 }.filter { path in
            FileStatus(path).map { $0.age > age } ?? false
        }
    }

    package var count: Int { paths.count }

    package func remove() {
        for path in paths { FolderNames.remove(path) }
    }
}
