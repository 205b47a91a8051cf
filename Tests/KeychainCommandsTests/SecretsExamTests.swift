// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import Testing

@testable import KeychainCommands

/// What the doctor says of the Secret Service.
@Suite struct SecretsExamTests {
    private static let ours = "/usr/libexec/keychain/keychain-secrets"
    private static let gnome = "/usr/bin/gnome-keyring-daemon"

    private func findings(
        _ owner: SecretsStatus.Owner, starts program: String? = nil, isEnabled: Bool = false,
        desktop: String? = nil
    ) throws -> [Finding] {
        var folders: [String] = []
        if let program { folders.append(try Self.folder(starting: program)) }
        defer { for folder in folders { FolderNames.remove(folder) } }
        let exam = SecretsExam(
            SecretsStatus(owner, isEnabled: isEnabled), BusActivation(folders: folders),
            desktop: desktop)
        // The first is about the file, as it is installed.
        return Array(exam.findings.dropFirst())
    }

    private static func folder(
        starting program: String, for name: String = "secrets"
    ) throws -> String {
        let folder = "/tmp/activation-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(
            atPath: folder + "/dbus-1/services", withIntermediateDirectories: true)
        let text = "[D-BUS Service]\nName=org.freedesktop.\(name)\nExec=\(program) --start\n"
        try text.write(
            toFile: folder + "/dbus-1/services/a.service", atomically: false, encoding: .utf8)
        return folder
    }

    @Test func `keychain-secrets at the name is fine`() throws {
        let found = try findings(.process(7, program: Self.ours))
        #expect(found.map(\.state) == [.fine])
    }

    @Test func `the status tells where all programs share one set of items`() {
        let shared = SecretsStatus(
            .process(7, program: "keychain-secrets-embedded"), isEnabled: false)
        #expect(shared.isShared && shared.text.contains("share one set of items"))
        let apart = SecretsStatus(.process(7, program: Self.ours), isEnabled: false)
        #expect(!apart.isShared && !apart.text.contains("share"))
    }

    @Test func `another program at the name is told with what helps`() throws {
        let found = try findings(.process(7, program: Self.gnome))
        #expect(found.map(\.state) == [.note])
        #expect(found[0].sentence.contains(Self.gnome))
        #expect(found[0].remedy?.contains("keychainctl secrets enable") == true)
        let enabled = try findings(.process(7, program: Self.gnome), isEnabled: true)
        #expect(enabled[0].remedy == "Log out and in again.")
    }

    @Test func `of a free name it is told which program the bus would start`() throws {
        #expect(try findings(.free, starts: Self.ours).map(\.state) == [.fine])
        #expect(try findings(.free, starts: Self.gnome)[0].sentence.contains(Self.gnome))
        #expect(try findings(.free)[0].sentence.contains("starts no program"))
    }

    @Test func `the first folder with a file for the name decides, whatever the file is called`()
        throws
    {
        let folders = [
            try Self.folder(starting: "/usr/bin/other", for: "notifications"),
            try Self.folder(starting: Self.ours), try Self.folder(starting: Self.gnome),
        ]
        defer { for folder in folders { FolderNames.remove(folder) } }
        #expect(BusActivation(folders: folders).program == Self.ours)
    }

    @Test(arguments: [
        ("GNOME", 0), ("ubuntu:GNOME", 0), ("XFCE", 0), ("sway", 1), ("KDE", 1), ("", 0),
    ])
    func `a desktop on which Chromium looks elsewhere is told`(desktop: String, notes: Int) throws {
        let found = try findings(.process(7, program: Self.ours), desktop: desktop)
        #expect(found.count { $0.remedy?.contains("--password-store") == true } == notes)
    }

    @Test(arguments: [
        "DBusName=org.freedesktop.secrets\nInterfaces=org.freedesktop.impl.portal.Secret;\nUseIn=gnome\n",
        "[portal]\nInterfaces=a.b;org.freedesktop.impl.portal.Secret\nDBusName=org.freedesktop.secrets",
    ])
    func `a portal's file that names the Secret Service is one`(text: String) {
        #expect(PortalFile.asksHere(text: text))
    }

    @Test(arguments: [
        "", "DBusName=org.freedesktop.secrets\nInterfaces=org.freedesktop.impl.portal.Settings\n",
        "DBusName=org.kde.secrets\nInterfaces=org.freedesktop.impl.portal.Secret\n",
        "Interfaces=org.freedesktop.impl.portal.Secret\n",
    ])
    func `any other portal's file is none`(text: String) {
        #expect(!PortalFile.asksHere(text: text))
    }

    @Test func `where a portal is installed it is told whether it asks here`() throws {
        func found(_ portal: String?, hasPortal: Bool = true) -> [Finding] {
            let status = SecretsStatus(
                .process(7, program: Self.ours), isEnabled: true, portal: portal)
            return SecretsExam(
                status, BusActivation(folders: []), desktop: nil, hasPortal: hasPortal
            ).findings.filter { $0.sentence.contains("xdg-desktop-portal") }
        }
        #expect(found(nil).map(\.state) == [.note])
        #expect(found("/usr/share/x/keychain.portal").map(\.state) == [.fine])
        #expect(found(nil, hasPortal: false).isEmpty)
    }
}
