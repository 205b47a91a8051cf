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
        let parent = folder.folder(id.user)
        let name = "\(id.name).keychain"
        let isGone = !folder.exists(id.name, of: id.user)
        let remains = try? KeychainRemains(of: parent + "/" + name)
        guard !isGone || remains?.isOfTransfersAlone == true else {
            paths = []
            return
        }
        let found = FolderNames.all(in: parent).filter {
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
