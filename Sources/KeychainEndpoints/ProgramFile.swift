// SPDX-License-Identifier: Apache-2.0
@_implementationOnly import KeychainLinuxSystem

/// The file of a program, by the name under which the service knows it.
package enum ProgramFile {
    /// The file of the calling program; nil where the kernel does not tell.
    package static func own() -> String? { InstalledProgram.ownPath() }

    /// The regular file at the path, after following links; nil for anything else.
    package static func resolved(_ path: String) -> String? { InstalledProgram.resolved(path) }
}
