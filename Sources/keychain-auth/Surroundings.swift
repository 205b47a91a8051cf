// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Nothing of whoever started this reaches PAM's modules.
enum Surroundings {
    static func clear() {
        clearenv()
        umask(0o077)
        _ = unsafe chdir("/")
    }
}
