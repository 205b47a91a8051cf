// SPDX-License-Identifier: Apache-2.0
package import Foundation
internal import KeychainModel

/// Files beside a keychain of work that did not come to its end: copies on their way, and folders in
/// which a file was being put together. Younger ones may still be in use.
///
/// Where the keychain's own file is gone they may be the last of it, and none is a leftover: except
/// of a keychain that never was, of which there are pieces of a transfer and nothing else.
package struct Leftovers {
    package static let age: TimeInterval = 60 * 60

    private let paths: [String]

    package init(
        of id: KeychainID, in folder: KeychainFolder, olderThan age: TimeInterval = age
    ) {
        let keychain = URL(fileURLWithPath: folder.filePath(id.name, id.user))
        let parent = keychain.deletingLastPathComponent().path
        let name = keychain.lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let isGone = !folder.exists(id.name, of: id.user)
        guard !isGone || KeychainRemains(of: keychain.path).isOfTransfersAlone else {
            paths = []
            return
        }
        let found = names.filter {
            $0.hasPrefix("." + name + ".") || KeychainRemains.isPassing($0, of: name)
        }
        paths = found.map { parent + "/" + $0 }.filter { path in
            let facts = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = facts?[.modificationDate] as? Date else { return false }
            return Date().timeIntervalSince(changed) > age
        }
    }

    package var count: Int { paths.count }

    package func remove() {
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }
}
