// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Nothing of the process that started this reaches PAM's modules.
enum Surroundings {
    static func clear() {
        clearenv()
        umask(0o077)
        // Safe: the path is a constant text.
        _ = unsafe chdir("/")
    }
}
