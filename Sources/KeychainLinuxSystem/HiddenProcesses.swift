// SPDX-License-Identifier: Apache-2.0

/// How /proc hides processes from programs like a worker, which have a number of their own and no
/// capability (proc(5), hidepid=).
package struct HiddenProcesses: Equatable {
    private static let longestMounts = 1 << 20

    package let option: String
    /// The group that sees all of them; nil where there is none.
    package let group: UInt32?

    /// Of this process; nil where nothing is hidden.
    package static var found: HiddenProcesses? {
        let mounts = KernelFile.read("/proc/self/mountinfo", limit: longestMounts) ?? []
        return HiddenProcesses(mounts: String(decoding: mounts, as: UTF8.self))
    }

    /// `mounts` is `/proc/self/mountinfo`.
    package init?(mounts: String) {
        let line = mounts.split(separator: "\n").last { line in
            let words = line.split(separator: " ")
            // Safe: the count is checked first.
            return words.count > 4 && words[4] == "/proc"
        }
        let options = line?.split(separator: " ").last?.split(separator: ",") ?? []
        func value(_ name: String) -> Substring? {
            options.first { $0.hasPrefix(name) }?.dropFirst(name.count)
        }
        switch value("hidepid=") {
        // The group that gid= names sees all, and root's where there is none.
        case "1", "2", "noaccess", "invisible":
            group = value("gid=").flatMap { UInt32($0) } ?? 0
        case "4", "ptraceable": group = nil
        default: return nil
        }
        option = options.first { $0.hasPrefix("hidepid=") }.map(String.init) ?? ""
    }
}
