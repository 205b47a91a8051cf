// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainModel
internal import Terminal

/// The status for people, each thing that is not as it should be with what to do about it.
struct StatusText {
    private let status: ServiceStatus
    private let socket: String?

    init(_ status: ServiceStatus, socket: String?) {
        self.status = status
        self.socket = socket
    }

    var text: String {
        let service = [mode, program] + session + memory + [vaultKey, device]
        let keychains = status.keychains.flatMap { [""] + keychain($0) }
        return (service.compactMap { $0 } + keychains).joined(separator: "\n") + "\n"
    }

    private var isDaemon: Bool { status.mode == .daemon }

    private var mode: String {
        guard isDaemon else {
            return """
                Mode: embedded. There is no keychain service here; each program opens the files \
                itself, and its checks guard against mistakes, not against the program.
                """
        }
        return "Mode: daemon, at \(PlainText.line(socket ?? "an unknown socket"))."
    }

    private var program: String {
        guard let identifier = status.callerIdentifier else {
            return "This program: its identity could not be established."
        }
        return "This program: \(PlainText.line(identifier))"
    }

    private var session: [String] {
        guard isDaemon else { return [] }
        let session =
            status.hasSession
            ? "Login session: known."
            : "Login session: unknown. Was this login made through pam_keychain.so?"
        let prompter =
            status.hasPrompter
            ? "Prompter: registered."
            : "Prompter: none; programs ask on their own terminal."
        return [session, prompter]
    }

    private var memory: [String] {
        let locked =
            status.locksMemory
            ? "Memory: secrets are kept out of swap."
            : "Memory: can't be locked here; secrets may reach swap. Raise the memlock limit."
        let keyring =
            status.usesKernelKeyring
            ? "Kernel keyring: used."
            : "Kernel keyring: refused here; unlocked keys live in the process alone."
        return [locked, keyring]
    }

    private var vaultKey: String? {
        switch status.vaultKeyPlace {
        case nil: nil
        case .descriptorStore: "Vault key: in systemd's descriptor store."
        case .file:
            """
            Vault key: in a file of root's. A process of uid 0 can read open keychains, even one \
            without any capability; where systemd starts keychaind it keeps the key instead.
            """
        }
    }

    private var device: String? {
        guard status.deviceKeyOnDisk else { return nil }
        return """
            Device key: on this disk. Anyone who has the disk can read what is accessible “always”, and \
            keychains without a password.
            """
    }

    private func keychain(_ keychain: KeychainStatus) -> [String] {
        let name = PlainText.line(keychain.name)
        let path = "    file: \(PlainText.line(keychain.path))"
        let isMachines = keychain.name == KeychainName.system.description
        // A user who can do nothing with it need not know how it is.
        guard !isMachines || getuid() == 0 else {
            return ["Keychain “\(name)”: the machine's own, which root keeps for its services."]
        }
        if let problem = keychain.problem {
            let meaning = ErrorMeaning(problem, keychain: name)
            let advice = meaning.advice.map { ["    \($0)"] } ?? []
            return ["Keychain “\(name)”: \(meaning.sentence).", path] + remains(keychain) + advice
        }
        let facts = ["Keychain “\(name)”: \(state(keychain)).", path]
        if isMachines {
            return facts + ["    It is the machine's own, for its services."]
                + (keychain.itemCount > 0 ? ["    items: \(keychain.itemCount)"] : [])
                + damage(keychain)
        }
        return facts + ["    items: \(keychain.itemCount)"]
            + damage(keychain) + locking(keychain) + opening(keychain) + protection(keychain)
            + passwords(keychain)
    }

    private func remains(_ keychain: KeychainStatus) -> [String] {
        guard !keychain.remains.isEmpty else { return [] }
        return ["    beside it: " + keychain.remains.map(PlainText.line).joined(separator: ", ")]
    }

    private func damage(_ keychain: KeychainStatus) -> [String] {
        var lines: [String] = []
        if keychain.damagedItems > 0 {
            lines.append(
                """
                    damaged records met: \(keychain.damagedItems). keychainctl doctor --repair \
                sets them aside.
                """)
        }
        if keychain.quarantinedItems > 0 {
            lines.append("    damaged records set aside: \(keychain.quarantinedItems)")
        }
        return lines
    }

    private func state(_ keychain: KeychainStatus) -> String {
        let reason =
            switch keychain.lockReason {
            case .none: ""
            case .loginWithoutPassword: ": the login carried no password"
            case .passwordDiffers: ": the login's password is not the keychain's"
            case .noSession: ": no login session of yours is known"
            case .lockedByUser: ": you locked it"
            case .screenLocked: ": the screen was locked"
            case .slept: ": the machine was asleep"
            case .timedOut: ": it was open for as long as its settings allow"
            }
        switch keychain.lockState {
        case .unlocked: return "unlocked"
        case .locked: return "locked" + reason
        case .lockedAfterFirstUnlock:
            return "locked, except for after-first-unlock items" + reason
        }
    }

    /// What its owner or the administrator has set; not what every keychain does.
    private func locking(_ keychain: KeychainStatus) -> [String] {
        guard let settings = keychain.settings, settings != KeychainSettings() else { return [] }
        return ["    " + SettingsText.lines(settings).joined(separator: "; ")]
    }

    private func opening(_ keychain: KeychainStatus) -> [String] {
        guard keychain.lockState != .unlocked else { return [] }
        guard keychain.isPasswordProtected else { return [] }
        let name = PlainText.line(keychain.name)
        if keychain.lockReason == .passwordDiffers {
            return [
                """
                    keychainctl unlock \(name) opens it with its old password; the next login's \
                then opens it too.
                """
            ]
        }
        return ["    keychainctl unlock \(name) opens it with its password."]
    }

    private func passwords(_ keychain: KeychainStatus) -> [String] {
        var lines: [String] = []
        if keychain.isProvisional {
            lines.append(
                """
                    Your first login made it. Until a second one has opened it, this machine's own \
                key opens it too.
                """)
        }
        if keychain.hasPendingPassword {
            lines.append(
                """
                    Its password was changed. Until a login has used the new one, the old one opens \
                it too.
                """)
        }
        return lines
    }

    private func protection(_ keychain: KeychainStatus) -> [String] {
        guard !keychain.isPasswordProtected else { return [] }
        guard !isDaemon else {
            return [
                """
                    It has no password. keychainctl unlock \(PlainText.line(keychain.name)) \
                --recovery-key opens it, and gives it one.
                """
            ]
        }
        return [
            """
                It is not protected by a password: anyone who reads this account's files can open \
            it. keychainctl set-password \(PlainText.line(keychain.name)) protects it.
            """
        ]
    }
}
