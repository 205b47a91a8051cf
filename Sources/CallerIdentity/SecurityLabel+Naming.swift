// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyModel

/// Which program a label of a Linux security module says this is.
extension SecurityLabel {
    private static let stacked = "//&"
    /// Modes of AppArmor in which the kernel does what the profile says.
    private static let confining = [" (enforce)", " (kill)"]

    /// What rules on `label` are asked.
    var fact: Fact<[PolicyText]> {
        switch self {
        case .none: .absent
        case .unreadable: .unknown
        case .selinux(let label): Self.fact(ofSELinux: label)
        case .appArmor(let label): Self.fact(ofAppArmor: label)
        }
    }

    private static func fact(ofSELinux label: String) -> Fact<[PolicyText]> {
        if label.contains("unconfined") { return .absent }
        return domain(label).map { .known([PolicyText($0)]) } ?? .unknown
    }

    /// Of a stack each profile, and the whole. A profile that confines nothing is *unknown*: what is
    /// forbidden to it stays so, and what is permitted to the confined program is not permitted to this.
    private static func fact(ofAppArmor label: String) -> Fact<[PolicyText]> {
        if label == "unconfined" { return .absent }
        guard let mode = confining.first(where: label.hasSuffix) else { return .unknown }
        let name = label.dropLast(mode.count)
        let profiles = name.split(separator: stacked)
        return .known(
            (profiles.count > 1 ? [name] + profiles : profiles).map {
                PolicyText("apparmor:" + $0)
            })
    }

    /// `selinux:user:role:type:level`; nil for what SELinux does not confine. Which program may enter
    /// a domain is in its policy.
    private static func domain(_ label: String) -> String? {
        guard !label.contains("unconfined"),
            label.split(separator: ":", omittingEmptySubsequences: false).count >= 4
        else { return nil }
        return "selinux:" + label
    }

    /// The domain where it names a program: the role of services is `system_r`, and no login has it,
    /// whatever its user's domain is called.
    var serviceDomain: String? {
        guard case .selinux(let label) = self, let domain = Self.domain(label) else { return nil }
        let parts = domain.split(separator: ":", omittingEmptySubsequences: false)
        // Safe: a domain has four parts at least.
        return parts[2] == "system_r" ? domain : nil
    }

    /// `snap:NAME` for a program of that snap that runs under the snap's own profile.
    ///
    /// An AppArmor profile alone says nothing: what is unconfined may change to any (and a scope of
    /// snapd's name can be made by every user). So the executable, which must be the very file that
    /// root mounted under `/snap`, names the snap, and the profile must agree.
    func snap(_ executable: ExecutableFacts) -> String? {
        let parts = executable.path.split(separator: "/", maxSplits: 2)
        // Safe: the count is checked first.
        guard parts.count == 3, parts[0] == "snap", case .appArmor(let label) = self,
            label.hasPrefix("snap.\(parts[1])."), label.hasSuffix(" (enforce)"),
            TrustedPath.isTrusted(executable)
        else { return nil }
        // Safe: the count was checked.
        return "snap:" + parts[1]
    }
}
