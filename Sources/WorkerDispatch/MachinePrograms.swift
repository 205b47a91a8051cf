// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// Programs that may search the machine's keychain: those of units of the system manager, and of
/// SELinux's domains of services.
enum MachinePrograms {
    private static let longest = 4096

    /// Whether it is worth while to give the program's worker a way to root's, which looks by itself
    /// who the program is.
    static func mayBe(_ process: Int32, _ connection: Descriptor) -> Bool {
        let groups = KernelFile.read("/proc/\(process)/cgroup", limit: longest) ?? []
        return isOfUnit(groups: String(decoding: groups, as: UTF8.self))
            || ServerConnection.label(of: connection)?.contains(":system_r:") ?? false
    }

    /// `groups` is `/proc/PID/cgroup`: HIERARCHY:CONTROLLERS:PATH, a line each. A user can call the groups
    /// below the own one as a unit's.
    static func isOfUnit(groups: String) -> Bool {
        groups.split(separator: "\n").contains { line in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3 && parts[2].hasPrefix("/system.slice/")
        }
    }
}
