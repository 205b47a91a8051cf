// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// The folders in which PAM finds its modules.
package enum PAMModule {
    private static let folders = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]

    /// Whether a module, as a line names it, is installed.
    package static func isInstalled(_ module: String) -> Bool {
        let manager = FileManager.default
        if module.hasPrefix("/") { return manager.fileExists(atPath: module) }
        return places.contains { manager.fileExists(atPath: $0 + "/" + module) }
    }

    /// `/lib/security` and, below it, the folder of each architecture.
    private static let places: [String] = folders.flatMap { folder -> [String] in
        let below = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let architectures = below.filter { $0.hasSuffix("-gnu") || $0.hasSuffix("-musl") }
        return ([folder] + architectures.map { folder + "/" + $0 }).map { $0 + "/security" }
    }
}
