// SPDX-License-Identifier: Apache-2.0
package import AccountDatabase
package import LoginRegistry
internal import KeychainLinuxSystem

/// Decides whether the kernel keeps a user's other programs from speaking under a name that it
/// gives: a system unit's, or an SELinux domain's.
///
/// Such a name is worth as much as the protection of its process, and programs of one user may
/// trace each other. So the name counts for users who run nothing but services: root, and numbers
/// of the system range. A user who logs in also starts other programs; then the name counts only
/// where the kernel lets none of them trace the process (Yama). Besides, a user's service manager,
/// a scheduler or a terminal server runs users' programs in its own unit: there the name counts
/// only where the unit's `User=` is that user, and the program is root's file.
package struct NameGuard: Sendable {
    /// Facts of the machine.
    package struct Machine: Sendable {
        var firstLoginUser: UInt32
        var hasLogin: @Sendable (UInt32) -> Bool
        var forbidsTracing: @Sendable () -> Bool
        /// The user that the service manager runs the unit's processes as.
        package var owner: @Sendable (_ unit: String) -> String?
        package var account: @Sendable (UInt32) -> String?
    }

    /// The user numbers that systemd gives to services with `DynamicUser=`.
    private static let dynamic: ClosedRange<UInt32> = 61_184...65_519

    private let machine: Machine

    package init(_ machine: Machine) { self.machine = machine }

    /// `runsRootsFile` is called only where the answer matters.
    func guards(
        unit: String, of user: UInt32, runsRootsFile: () -> Bool
    ) -> Bool {
        if guardsDomain(of: user) { return true }
        guard !isServices(user), machine.forbidsTracing(), runsRootsFile(),
            let owner = machine.owner(unit)
        else { return false }
        return owner == "\(user)" || owner == machine.account(user)
    }

    /// The same for an SELinux domain, which never counts if programs of a login also enter it.
    func guardsDomain(of user: UInt32) -> Bool {
        if user == 0 { return true }
        return isServices(user) && (!machine.hasLogin(user) || machine.forbidsTracing())
    }

    private func isServices(_ user: UInt32) -> Bool {
        user < machine.firstLoginUser || Self.dynamic.contains(user)
    }
}

extension NameGuard.Machine {
    private static let longest = 256 * 1024

    /// `owner` gives `User=` of a unit; nil where that can't be looked up.
    package init(
        _ sessions: SessionRegistry, _ accounts: AccountNames,
        owner: @escaping @Sendable (_ unit: String) -> String?
    ) {
        firstLoginUser = Self.firstLoginUser(in: ["/etc/login.defs", "/usr/etc/login.defs"])
        hasLogin = { !sessions.live($0).isEmpty }
        forbidsTracing = {
            let scope = KernelFile.read("/proc/sys/kernel/yama/ptrace_scope", limit: 16)
            return scope.flatMap { Self.number($0) }.map { $0 >= 1 } ?? false
        }
        self.owner = owner
        account = { accounts.name(of: $0) }
    }

    /// `UID_MIN` of the first file that exists (login.defs(5)).
    static func firstLoginUser(in files: [String]) -> UInt32 {
        let usual: UInt32 = 1000
        let content = files.lazy.compactMap {
            try? FileContents(reading: $0, limit: longest, followingLinks: true).bytes
        }.first
        for line in String(decoding: content ?? [], as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 2, words.first == "UID_MIN" else { continue }
            // Safe: there are two.
            return UInt32(words[1]) ?? usual
        }
        return usual
    }

    private static func number(_ text: [UInt8]) -> UInt32? {
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first
        return line.flatMap { UInt32($0) }
    }
}
