// SPDX-License-Identifier: Apache-2.0

/// How /proc hides processes from programs like a worker, which have root's group and no capability
/// (proc(5), hidepid=).
struct HiddenProcesses: Equatable {
    let option: String
    /// The group that sees all of them, by its number; nil where there is none.
    let group: String?

    /// `mounts` is `/proc/self/mountinfo`. nil where nothing is hidden from root's group.
    init?(mounts: String) {
        let line = mounts.split(separator: "\n").last { line in
            let words = line.split(separator: " ")
            // Safe: the count is checked first.
            return words.count > 4 && words[4] == "/proc"
        }
        let options = line?.split(separator: " ").last?.split(separator: ",") ?? []
        func value(_ name: String) -> Substring? {
            options.first { $0.hasPrefix(name) }?.dropFirst(name.count)
        }
        let group = value("gid=")
        switch value("hidepid=") {
        // Those whom the option names see all, and so does root's group where it names none.
        case "1", "2", "noaccess", "invisible":
            guard let group, group != "0" else { return nil }
            self.group = String(group)
        case "4", "ptraceable": self.group = nil
        default: return nil
        }
        option = options.first { $0.hasPrefix("hidepid=") }.map(String.init) ?? ""
    }
}
