// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Whether programs that use the Secret Service find the keychain. Says nothing where keychain-secrets
/// is not installed.
struct SecretsExam {
    private static let program = "../libexec/keychain/keychain-secrets"
    /// Desktops by whose names Chromium and Electron's programs use the Secret Service; on others they
    /// take KWallet, or keep secrets in files (electron/electron#47436).
    private static let desktops = [
        "Unity", "Deepin", "GNOME", "X-Cinnamon", "Pantheon", "XFCE", "UKUI", "COSMIC",
    ]

    private let status: SecretsStatus
    private let activation: BusActivation
    private let desktop: String?
    private let hasPortal: Bool

    init?() {
        guard let path = InstalledProgram.sibling(Self.program), FileStatus(path) != nil,
            let status = try? SecretsStatus(), let files = try? SecretsFiles()
        else { return nil }
        self.init(
            status, BusActivation(data: files.data),
            desktop: ProcessEnvironment["XDG_CURRENT_DESKTOP"],
            hasPortal: PortalFile.isPortalInstalled)
    }

    init(
        _ status: SecretsStatus, _ activation: BusActivation, desktop: String?,
        hasPortal: Bool = false
    ) {
        self.status = status
        self.activation = activation
        self.desktop = desktop
        self.hasPortal = hasPortal
    }

    var findings: [Finding] { [Self.group, owner, electron, portal].compactMap { $0 } }

    private static var group: Finding {
        let path = InstalledProgram.sibling(program) ?? "keychain-secrets"
        guard InstalledProgram.setgidGroup(path) != nil else {
            return Finding(
                .secrets, .trouble,
                "\(path) is not root's alone, or does not take its group: keychaind refuses it",
                remedy: "Install the package again; it makes the group _keychain-secrets.")
        }
        return Finding(.secrets, .fine, "keychain-secrets is installed, with a group of its own")
    }

    private var owner: Finding {
        switch status.owner {
        case .noBus: return Finding(.secrets, .note, "no bus of this user's answers")
        case .free: return activated
        case .process(let process, let program):
            guard !BusActivation.isOurs(program) else {
                return Finding(.secrets, .fine, "keychain-secrets has org.freedesktop.secrets")
            }
            let name = program.isEmpty ? "an unknown program" : program
            return Finding(
                .secrets, .note,
                "\(name) (process \(process)) has org.freedesktop.secrets, not keychain-secrets",
                remedy: status.isEnabled ? "Log out and in again." : Self.enable)
        }
    }

    /// The name is free: what the bus would start for the first program that asks.
    private var activated: Finding {
        guard let program = activation.program else {
            return Finding(
                .secrets, .note, "the bus starts no program for org.freedesktop.secrets",
                remedy: Self.enable)
        }
        guard activation.isOurs else {
            return Finding(
                .secrets, .note, "the bus starts \(program) for org.freedesktop.secrets",
                remedy: Self.enable)
        }
        return Finding(.secrets, .fine, "the bus starts keychain-secrets when it is asked for")
    }

    private static let enable = "keychainctl secrets enable, then log out and in again."

    /// Nothing where there is no portal.
    private var portal: Finding? {
        guard hasPortal else { return nil }
        guard let path = status.portal else {
            return Finding(
                .secrets, .note,
                "xdg-desktop-portal finds no keychain.portal: sandboxed applications get no secret",
                remedy: "Install the package again, or copy the file from it.")
        }
        return Finding(
            .secrets, .fine, "xdg-desktop-portal asks for sandboxed applications by \(path)")
    }

    private var electron: Finding? {
        guard let desktop, !desktop.isEmpty else { return nil }
        let names = desktop.split(separator: ":").map(String.init)
        guard !names.contains(where: Self.desktops.contains) else { return nil }
        return Finding(
            .secrets, .note,
            "XDG_CURRENT_DESKTOP is “\(desktop)”: Chromium and Electron's programs don't look here",
            remedy: "Start them with --password-store=gnome-libsecret.")
    }
}
