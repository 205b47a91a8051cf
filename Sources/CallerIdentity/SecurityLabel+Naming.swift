// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyModel

/// The program that a Linux security module's label identifies.
extension SecurityLabel {
    private static let stacked = "//&"
    /// AppArmor modes in which the kernel enforces the profile.
    private static let confining = [" (enforce)", " (kill)"]

    /// The fact that rules on `label` ask for.
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

    /// Each profile of a stack, and the whole label. A profile in a mode that enforces nothing is
    /// *unknown*: rules that forbid it still apply, and rules that permit the confined program do
    /// not.
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

    /// `selinux:user:role:type:level`; nil where SELinux does not confine the process. SELinux's
    /// policy decides which programs may enter a domain.
    private static func domain(_ label: String) -> String? {
        guard !label.contains("unconfined"),
            label.split(separator: ":", omittingEmptySubsequences: false).count >= 4
        else { return nil }
        return "selinux:" + label
    }

    /// The domain where it identifies a service: services have the role `system_r`, which no login
    /// has, whatever its user's domain is called.
    var serviceDomain: String? {
        guard case .selinux(let label) = self, let domain = Self.domain(label) else { return nil }
        let parts = domain.split(separator: ":", omittingEmptySubsequences: false)
        // Safe: a domain has four parts at least.
        return parts[2] == "system_r" ? domain : nil
    }

    /// `snap:NAME` for a program of that snap that runs under the snap's own profile.
    ///
    /// An AppArmor profile alone identifies nothing: an unconfined process may change to any
    /// profile (and every user can make a scope with snapd's name). So the executable, which must
    /// be the very file that root mounted under `/snap`, names the snap, and the profile must
    /// agree.
    func snap(_ program: ProgramLook) -> String? {
        let parts = (program.path ?? "").split(separator: "/", maxSplits: 2)
        // Safe: the count is checked first.
        guard parts.count == 3, parts[0] == "snap", case .appArmor(let label) = self,
            label.hasPrefix("snap.\(parts[1])."), label.hasSuffix(" (enforce)"),
            program.isTrusted
        else { return nil }
        // Safe: the count was checked.
        return "snap:" + parts[1]
    }
}
