// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Another package's program that a command runs.
enum InstalledTool {
    /// The path, where the program is root's. `task` completes "could not …".
    static func path(
        _ path: String, of package: String, to task: String
    ) throws(CommandFailure) -> String {
        guard InstalledProgram.isTrusted(path) else {
            throw CommandFailure(
                .failure, name: "programMissing",
                "could not \(task): it takes \(path), which is not installed",
                advice: "The package \(package) has it.")
        }
        return path
    }
}
