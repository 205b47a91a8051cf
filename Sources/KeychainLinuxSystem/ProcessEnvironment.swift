// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The environment of this process, which its user controls.
package enum ProcessEnvironment {
    /// nil for an empty value, and always in a program with more rights than its user.
    package static subscript(_ name: String) -> String? {
        ProcessHardening.runsWithForeignRights ? nil : userSays(name)
    }

    /// All variables, as `NAME=value`, for a program of the same user.
    package static var all: [String] {
        var found: [String] = []
        // Safe: the list ends with nil, and the texts are copied.
        var next = unsafe environ
        while let text = unsafe next.pointee {
            found.append(unsafe String(cString: text))
            unsafe next += 1
        }
        return found
    }

    /// nil for an empty value. In a program with more rights than its user, the value is under that
    /// user's control and must not decide how those rights are used.
    package static func userSays(_ name: String) -> String? {
        // Safe: the text is copied before anything could change it.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
