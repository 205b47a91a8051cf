// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import FoundationEssentials
internal import KeychainLinuxSystem
internal import PolicyTools

/// The names for policies that exist on this machine.
struct Machine {
    private static let unitFolders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system",
        "/usr/local/lib/systemd/system", "/lib/systemd/system",
    ]
    private static let pamFolders = ["/etc/pam.d", "/usr/lib/pam.d"]

    func has(_ name: PolicyLint.Name) -> Bool {
        switch name {
        case .unit(let unit):
            Self.exists(Self.template(of: unit), in: Self.unitFolders)
                || Self.exists(unit, in: Self.unitFolders)
        case .group(let group): UserGroup.exists(group)
        case .user(let user): Account.named(user) != nil
        case .program(let path): FileManager.default.fileExists(atPath: path)
        case .service(let service): Self.exists(service, in: Self.pamFolders)
        }
    }

    private static func exists(_ name: String, in folders: [String]) -> Bool {
        guard !name.contains("/") else { return false }
        return folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(name)") }
    }

    /// `getty@.service` of `getty@tty1.service`.
    private static func template(of unit: String) -> String {
        guard let at = unit.firstIndex(of: "@"), let dot = unit.lastIndex(of: "."), at < dot else {
            return unit
        }
        return String(unit[...at] + unit[dot...])
    }
}
