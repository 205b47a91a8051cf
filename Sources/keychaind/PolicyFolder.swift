// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The administrator's policies. Enforcing them is not there yet: so that nobody believes himself
/// protected by a rule that is ignored, the daemon refuses to start where there is one.
enum PolicyFolder {
    static func check(_ folder: String) throws(StartError) {
        guard FileManager.default.fileExists(atPath: folder) else { return }
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .policyFolderUnreadable(folder)
        }
        if let policy = files.sorted().first(where: { $0.hasSuffix(".yaml") }) {
            throw .policiesNotSupported(folder + "/" + policy)
        }
    }
}
