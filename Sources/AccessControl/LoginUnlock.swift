// SPDX-License-Identifier: Apache-2.0

/// A login that carries no password, and may open its user's keychain all the same.
public struct LoginUnlock: Sendable {
    /// The PAM service that opened the session.
    public let service: String
    /// The owner has added something that opens his keychain at such a login.
    public let isEnrolled: Bool

    public init(service: String, isEnrolled: Bool) {
        self.service = service
        self.isEnrolled = isEnrolled
    }

    /// Services that open sessions in the name of users who have proven nothing to them: jobs, and
    /// somebody else's rights. Their names without what follows a hyphen (`su-l`, `sudo-i`).
    static let servicesOfOthers: Set<String> = [
        "sudo", "su", "runuser", "doas", "cron", "crond", "atd", "at", "systemd", "polkit",
        "pkexec", "machinectl", "other",
    ]
}

extension Judge {
    /// Whether what was enrolled may open the keychain with nobody asked. PAM's success is all the
    /// proof there is; so only where PAM was asked about the user himself.
    public func judge(_ login: LoginUnlock) -> Bool {
        let name = login.service.prefix { $0 != "-" }
        return login.isEnrolled && !name.isEmpty
            && !LoginUnlock.servicesOfOthers.contains(name.lowercased())
    }
}
