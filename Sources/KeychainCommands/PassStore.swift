// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The names of the entries of pass or gopass. The store itself may be a link.
struct PassStore {
    private static let deepest = 16
    private static let mostNames = 100_000

    private let folder: String
    private let most: Int
    /// Without their ending, in order.
    private(set) var entries: [String] = []
    /// Links below it, which may lead out of the store or back into it, and folders that lie too deep.
    private(set) var passedOver: [String] = []

    /// nil where there are too many.
    init?(_ folder: String, most: Int = mostNames) {
        self.folder = folder
        self.most = most
        guard take("", 0) else { return nil }
        entries.sort()
        passedOver.sort()
    }

    private mutating func take(_ below: String, _ depth: Int) -> Bool {
        for name in FolderNames.all(in: folder + "/" + below) where !name.hasPrefix(".") {
            guard entries.count + passedOver.count < most else { return false }
            let isEntry = name.hasSuffix(".gpg")
            switch FileStatus(folder + "/" + below + name)?.kind {
            case .file where isEntry: entries.append(below + name.dropLast(4))
            case .folder where depth + 1 < Self.deepest:
                guard take(below + name + "/", depth + 1) else { return false }
            case .folder, .other: passedOver.append(below + name)
            case .file, nil: continue
            }
        }
        return true
    }
}
