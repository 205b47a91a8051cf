// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// Measures that a process takes before it handles secrets.
package enum ProcessHardening {
    private static let descriptors: rlim_t = 16384

    /// Forbids core dumps, and tracing by processes of the same user.
    package static func apply() throws(SystemError) {
        guard kc_forbid_dumping() == 0 else { throw .system(errno) }
    }

    /// Keeps programs that this process starts from gaining rights (setuid, setgid, file
    /// capabilities). Must be called before there is another thread.
    package static func forbidNewPrivileges() throws(SystemError) {
        guard kc_forbid_new_privileges() == 0 else { throw .system(errno) }
    }

    /// Makes freed memory go back to the kernel, however many threads have used it.
    package static func boundMemory() { kc_bound_memory() }

    /// Raises the limit of descriptors for many connections, as far as allowed.
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        // Safe: the structure is this function's own.
        guard unsafe getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return
        }
        limit.rlim_cur = min(max(limit.rlim_cur, descriptors), limit.rlim_max)
        _ = unsafe setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether this process has more rights than the user who started it (setuid, setgid,
    /// capabilities), so that its environment is not to be trusted.
    package static var runsWithForeignRights: Bool { kc_runs_with_foreign_rights() != 0 }
}
