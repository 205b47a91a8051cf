// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// The systemd units and the slice in the path of a control group.
struct ControlGroup {
    /// The unit of the system's own manager; nil for units that start other users' programs.
    var unit: String? { SystemUnit.name(lines) }
    /// The system's own slice: below the first unit every user can choose names.
    var slice: String? { slices.last }
    /// The unit of a user's manager, where every program of the user can choose a name.
    let userUnit: String?

    /// All slices, from the top.
    let slices: [String]
    let unitBelowSlices: String?
    private let lines: [UInt8]

    /// nil where the lines name no unified hierarchy.
    init?(_ lines: [UInt8]) {
        let text = String(decoding: lines, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        let parts = line.dropFirst("0::/".count).split(separator: "/").map(String.init)
        self.lines = lines
        slices = Array(parts.prefix { $0.hasSuffix(".slice") })
        unitBelowSlices = parts.dropFirst(slices.count).first
        let manager = parts.firstIndex { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
        userUnit = manager.flatMap { place in
            // Safe: the place is one of the parts.
            parts[(place + 1)...].last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
        }
    }
}

/// The service manager of a user (`user@UID.service`), which starts programs for all of the user's
/// logins.
enum ServiceManager {
    /// Whether the process is in the manager's part of the control groups.
    static func ran(_ cgroup: [UInt8], for user: UInt32) -> Bool {
        let place = "0::/user.slice/user-\(user).slice/user@\(user).service/"
        return String(decoding: cgroup, as: UTF8.self).split(separator: "\n")
            .contains { ($0 + "/").hasPrefix(place) }
    }

    /// Whether the manager is the process's parent, or the system's manager. Any other parent could
    /// trace what the process starts, where Yama's `ptrace_scope` is 1.
    static func isParent(of process: PinnedProcess, for user: UInt32) -> Bool {
        guard let parent = process.status()?.parent else { return false }
        if parent == systemManager { return true }
        guard let manager = PinnedProcess(pid: parent, pidfd: nil), let lines = manager.cgroup(),
            let grandparent = manager.status()?.parent
        else { return false }
        return isManager(lines, childOf: grandparent, for: user)
    }

    /// A program of the user's can move to the manager's control group from others below the
    /// manager, which takes in all orphans there: so none of them is the system manager's child.
    static func isManager(_ cgroup: [UInt8], childOf parent: Int32, for user: UInt32) -> Bool {
        let place = "0::/user.slice/user-\(user).slice/user@\(user).service/init.scope"
        return parent == systemManager
            && String(decoding: cgroup, as: UTF8.self).split(separator: "\n").contains {
                $0 == place
            }
    }

    private static let systemManager: Int32 = 1
}

/// `keychain-prompter.service` of a user's service manager.
enum PrompterUnit {
    static func runs(_ cgroup: [UInt8], of user: UInt32) -> Bool {
        let place =
            "0::/user.slice/user-\(user).slice/user@\(user).service/session.slice/"
            + "keychain-prompter.service"
        return String(decoding: cgroup, as: UTF8.self).split(separator: "\n").contains {
            $0 == place
        }
    }
}

/// The system unit a process belongs to, from its control group.
enum SystemUnit {
    /// Root's units that start other users' programs. Their name tells nothing about the program,
    /// even if the program is root's or a service's. For programs of users who log in, the name
    /// counts for nothing in any case (`NameGuard`).
    private static let launchers = [
        "cron.service", "crond.service", "anacron.service", "atd.service", "ssh.service",
        "sshd.service", "systemd-logind.service", "gdm.service", "gdm3.service", "sddm.service",
        "lightdm.service", "display-manager.service", "docker.service", "containerd.service",
        // Units that log users in without a PAM session, or before there is one.
        "dropbear.service", "greetd.service", "xrdp.service", "xrdp-sesman.service",
        "console-getty.service", "debug-shell.service", "xdm.service", "lxdm.service",
        "ly.service", "shellinabox.service", "ttyd.service", "inetd.service", "xinetd.service",
        "cronie.service", "fcron.service", "slurmd.service", "cockpit.service",
    ]
    private static let launcherTemplates = [
        "getty@", "serial-getty@", "container-getty@", "user@", "sshd@", "ssh@", "dropbear@",
        // A crontab's lines as units (systemd-cron), and terminals and desktops from elsewhere.
        "cron-", "cockpit-session", "cockpit-wsinstance", "tigervncserver@", "vncserver@",
        "code-server@", "telnet@",
    ]
    /// Units that run users' commands, which belong to no login unless PAM makes one.
    private static let schedulers = [
        "cron.service", "crond.service", "atd.service", "cronie.service", "fcron.service",
    ]

    /// The service, unless it runs other users' programs.
    static func name(_ cgroup: [UInt8]) -> String? {
        guard let unit = service(cgroup), !launchers.contains(unit),
            !launcherTemplates.contains(where: unit.hasPrefix)
        else { return nil }
        return unit
    }

    static func isScheduler(_ cgroup: [UInt8]) -> Bool {
        service(cgroup).map(schedulers.contains) ?? false
    }

    /// `name.service` directly below `system.slice` or a slice of it; nil for all else: below a
    /// service or a scope, its user chooses the names.
    private static func service(_ cgroup: [UInt8]) -> String? {
        guard let group = ControlGroup(cgroup), group.slices.first == "system.slice",
            let unit = group.unitBelowSlices, unit.hasSuffix(".service")
        else { return nil }
        return unit
    }
}
