// SPDX-License-Identifier: Apache-2.0
@_implementationOnly import KeychainLinuxSystem

/// The file that a program runs from, under the name that the service knows it by.
package enum ProgramFile {
    /// Of the calling program; nil where the kernel does not tell.
    package static func own() -> String? { InstalledProgram.ownPath() }

    /// Of a path that leads to a regular file, with its links followed; nil for any other.
    package static func resolved(_ path: String) -> String? { InstalledProgram.resolved(path) }
}
