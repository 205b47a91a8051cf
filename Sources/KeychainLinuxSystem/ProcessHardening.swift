// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// What a process that holds secrets does to itself first.
package enum ProcessHardening {
    private static let descriptors: rlim_t = 16384

    /// No core dumps, and no tracing by processes of the same user.
    package static func apply() throws(SystemError) {
        guard kc_forbid_dumping() == 0 else { throw .system(errno) }
    }

    /// From now on no program that this process starts gets rights by being started (setuid, setgid,
    /// capabilities of a file). To be called before there is another thread.
    package static func forbidNewPrivileges() throws(SystemError) {
        guard kc_forbid_new_privileges() == 0 else { throw .system(errno) }
    }

    /// Memory that was freed goes back to the kernel, however many threads had some.
    package static func boundMemory() { kc_bound_memory() }

    /// Room for many connections, as far as the limits allow.
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        // Safe: the structure is this function's own.
        guard unsafe getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return
        }
        limit.rlim_cur = min(max(limit.rlim_cur, descriptors), limit.rlim_max)
        _ = unsafe setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether this process has more rights than who started it (setuid, setgid, capabilities), so
    /// that its environment is another user's word.
    package static var runsWithForeignRights: Bool { kc_runs_with_foreign_rights() != 0 }
}
