// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import KeychainCommands

/// Whose an item of another service becomes.
@Suite struct ImportOwnersTests {
    private static func item(_ pairs: [String: String]) -> Attributes {
        Attributes(pairs.map { (AttributeName.pair($0.key), .string($0.value)) })
    }

    private let all = ImportOwners { _ in true }

    @Test(arguments: [
        (["application": "chrome"], "exe:/opt/google/chrome/chrome"),
        (["application": "chromium", "xdg:schema": "any"], "exe:/usr/lib/chromium/chromium"),
        (["e-source-uid": "system", "eds-origin": "x"], "desktop-accounts"),
        (
            ["connection-uuid": "1", "setting-name": "wifi", "setting-key": "psk"],
            "desktop-networks"
        ),
        (
            ["xdg:schema": "org.gnome.OnlineAccounts", "goa-identity": "google:gen0:account_1"],
            "desktop-networks"
        ),
        (["gvfs-luks-uuid": "1"], "desktop-files"),
        (
            ["xdg:schema": "org.gnome.keyring.NetworkPassword", "protocol": "smb", "server": "a"],
            "desktop-files"
        ),
        (
            ["xdg:schema": "io.docker.Credentials", "server": "a"],
            "exe:/usr/bin/docker-credential-secretservice"
        ),
    ])
    func `what programs give their items says whose they are`(
        _ pairs: [String: String], _ group: String
    ) {
        #expect(all.group(of: Self.item(pairs)) == group)
    }

    @Test(arguments: [
        ["application": "Python keyring lib", "service": "a", "username": "b"],
        ["application": "chrome2"], ["Application": "chrome"], ["setting-key": "psk"], [:],
        ["xdg:schema": "org.gnome.keyring.NetworkPassword", "protocol": "https", "server": "a"],
        ["protocol": "smb", "server": "a"],
    ])
    func `of other items none is known`(_ pairs: [String: String]) {
        #expect(all.group(of: Self.item(pairs)) == nil)
    }

    @Test func `a program counts where it is installed`() {
        let chromium = Self.item(["application": "chromium"])
        let second = "/usr/lib/chromium-browser/chromium-browser"
        #expect(ImportOwners { $0 == second }.group(of: chromium) == "exe:" + second)
        #expect(ImportOwners { _ in false }.group(of: chromium) == nil)
        // Families are groups of programs that may yet be installed.
        let account = Self.item(["e-source-uid": "a"])
        #expect(ImportOwners { _ in false }.group(of: account) == "desktop-accounts")
    }

    @Test func `the baseline policy lets the import add to each owner's group`() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let policy = try String(
            contentsOf: top.appending(path: "Policies/10-baseline.yaml"), encoding: .utf8)
        #expect(ImportOwners.groups.count > 9)
        for group in ImportOwners.groups {
            #expect(policy.contains("- \(group)\n") || policy.contains("- \"\(group)\"\n"))
        }
    }
}
