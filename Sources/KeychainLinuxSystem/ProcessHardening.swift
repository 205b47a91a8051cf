// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// Measures that a process takes before it handles secrets.
package enum ProcessHardening {
    private static let descriptors: rlim_t = 16384
    private static let lockedBytes: rlim_t = 1 << 30
    /// RLIMIT_NICE counts from 20 downwards: this is a nice value of −4.
    private static let urgency: rlim_t = 24

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

    /// Raises the limits of descriptors, for many connections, of locked memory and of urgency, as far as
    /// allowed: later, without rights, the process is held to them.
    package static func raiseLimits() {
        raise(RLIMIT_NOFILE, to: descriptors)
        raise(__RLIMIT_MEMLOCK, to: lockedBytes)
        raise(__RLIMIT_NICE, to: urgency)
    }

    private static func raise(_ resource: __rlimit_resource, to wanted: rlim_t) {
        let number = Int32(resource.rawValue)
        var limit = rlimit()
        // Safe: the structure is this function's own.
        guard unsafe getrlimit(number, &limit) == 0, limit.rlim_cur < wanted else { return }
        var raised = rlimit(rlim_cur: wanted, rlim_max: max(wanted, limit.rlim_max))
        if unsafe setrlimit(number, &raised) == 0 { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = unsafe setrlimit(number, &limit)
    }

    /// The rights that root's processes have beside their number (capabilities(7)).
    package enum Capability: UInt64, Sendable {
        /// To look at, and trace, other users' processes.
        case trace = 19
        /// To look at all files, and read them.
        case search = 2
        case setGroup = 6
        case setUser = 7
    }

    /// Gives up all other capabilities for good. Only this thread does, and those that it starts from
    /// now on.
    package static func keepOnly(_ kept: [Capability]) throws(SystemError) {
        let mask = kept.reduce(UInt64(0)) { $0 | 1 << $1.rawValue }
        guard kc_keep_capabilities(mask) == 0 else { throw .system(errno) }
    }

    /// Takes the number for user and group, and gives up all capabilities and all further groups but the
    /// one, if it is not root's, from which /proc hides nothing; with number zero the process stays root's.
    /// Must be called before there is another thread.
    package static func become(_ number: UInt32) throws(SystemError) {
        let group = HiddenProcesses.found?.group ?? 0
        // The last number is no group's.
        let kept = group == 0 ? .max : group
        if number != 0, kc_become(number, kept) != 0 { throw .system(errno) }
        try keepOnly([])
        // With a change of its user the kernel forgets that a process is not to be dumped.
        try apply()
    }

    /// Whether this process has more rights than the user who started it (setuid, setgid,
    /// capabilities), so that its environment is not to be trusted.
    package static var runsWithForeignRights: Bool { kc_runs_with_foreign_rights() != 0 }
}
