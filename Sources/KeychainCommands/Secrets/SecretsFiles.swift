// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainLinuxSystem

/// The files in a user's own folders by which the bus starts keychain-secrets, and gnome-keyring does not
/// take its place. The package keychain-secret-service does the same for all users.
struct SecretsFiles {
    static let service = "org.freedesktop.secrets.service"
    private static let portalName = "org.freedesktop.impl.portal.Secret"
    private static let gnome = "/usr/bin/gnome-keyring-daemon"
    /// By which a file is known that this command wrote.
    private static let mark = "# Written by keychainctl secrets enable.\n"
    private static let template = "../share/keychain/dbus-1/" + service

    /// Where a file lies, and what is in it.
    private struct File {
        let path: String
        let text: String
    }

    /// The user's folder of data.
    let data: String
    private let activation: String
    private let portal: String
    private let autostart: String
    private let unit: String

    init() throws(CommandFailure) {
        guard let home = ProcessEnvironment["HOME"] ?? UserAccount.own?.home else {
            throw CommandFailure(.failure, name: "noHome", "there is no home folder")
        }
        data = Self.folder("XDG_DATA_HOME") ?? home + "/.local/share"
        let settings = Self.folder("XDG_CONFIG_HOME") ?? home + "/.config"
        activation = data + "/dbus-1/services/" + Self.service
        portal = data + "/dbus-1/services/" + Self.portalName + ".service"
        autostart = settings + "/autostart/gnome-keyring-secrets.desktop"
        unit = settings + "/systemd/user/gnome-keyring-daemon.service.d/keychain.conf"
    }

    /// One that is not absolute counts as not set, for the bus too.
    private static func folder(_ variable: String) -> String? {
        ProcessEnvironment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    func enable() throws(CommandFailure) {
        for file in try files() {
            guard !FileManager.default.fileExists(atPath: file.path) || Self.isOwn(file.path) else {
                throw CommandFailure(
                    .exists, name: "exists", "\(file.path) is there, and another's",
                    advice: "Move it away, and try again.")
            }
        }
        for file in try files() { try Self.write(file) }
    }

    func disable() throws(CommandFailure) {
        for path in [activation, portal, autostart, unit] where Self.isOwn(path) {
            do { try FileManager.default.removeItem(atPath: path) } catch {
                throw CommandFailure(.failure, name: "inputOutput", "could not remove \(path)")
            }
        }
    }

    private func files() throws(CommandFailure) -> [File] {
        guard let template = InstalledProgram.sibling(Self.template),
            let text = try? String(contentsOfFile: template, encoding: .utf8)
        else {
            throw CommandFailure(
                .failure, name: "notInstalled", "keychain-secrets is not installed here",
                advice: "Where no daemon is, keychain-secrets --embedded is started by hand.")
        }
        var files = [File(path: activation, text: text)]
        guard FileIdentity(Self.gnome) != nil else { return files }
        // By this name gnome-keyring is started too, and takes the other one; it never has this one. The
        // portal asks by the other.
        files.append(
            File(
                path: portal,
                text: """
                    [D-BUS Service]
                    Name=\(Self.portalName)
                    Exec=/bin/false

                    """))
        files.append(
            File(
                path: autostart,
                text: """
                    [Desktop Entry]
                    Type=Application
                    Name=Secret Storage Service
                    Hidden=true

                    """))
        files.append(
            File(
                path: unit,
                text: """
                    [Service]
                    ExecStart=
                    ExecStart=\(Self.gnome) --foreground --components=pkcs11 --control-directory=%t/keyring

                    """))
        return files
    }

    private static func write(_ file: File) throws(CommandFailure) {
        let folder = file.path[..<(file.path.lastIndex(of: "/") ?? file.path.endIndex)]
        do {
            try FileManager.default.createDirectory(
                atPath: String(folder), withIntermediateDirectories: true)
            try (mark + file.text).write(toFile: file.path, atomically: true, encoding: .utf8)
        } catch {
            throw CommandFailure(.failure, name: "inputOutput", "could not write \(file.path)")
        }
    }

    private static func isOwn(_ path: String) -> Bool {
        (try? String(contentsOfFile: path, encoding: .utf8))?.hasPrefix(mark) ?? false
    }
}
