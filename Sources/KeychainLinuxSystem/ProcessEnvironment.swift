// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The environment of this process, which is its user's word.
package enum ProcessEnvironment {
    /// nil for what is empty, and always in a program with more rights than its user.
    package static subscript(_ name: String) -> String? {
        ProcessHardening.runsWithForeignRights ? nil : userSays(name)
    }

    /// nil for what is empty. In a program with more rights than its user this is a word of that
    /// user's, which none of those rights may follow.
    package static func userSays(_ name: String) -> String? {
        // Safe: the text is copied before anything could change it.
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
