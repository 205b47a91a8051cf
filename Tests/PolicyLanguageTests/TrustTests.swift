// SPDX-License-Identifier: Apache-2.0
import PolicySyntax
import KeychainPolicyModel
import Foundation
import PolicyLanguage
import Testing

/// Which files a service that runs as root believes.
struct TrustTests {
    /// A folder with one policy, gone at the end.
    private final class Folder {
        let path: String

        init(in parent: String) throws {
            path = "\(parent)/keychain-policies-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755])
            try Data(rules("  - {id: a.b, forbid: no}\n").utf8)
                .write(to: URL(filePath: "\(path)/10-a.yaml"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: "\(path)/10-a.yaml")
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var file: String { "\(path)/10-a.yaml" }

        func load(asRoot: Bool) -> LoadedPolicies {
            LoadedPolicies(reading: [path], asRoot: asRoot, today: testDay)
        }

        func told() -> [String] {
            load(asRoot: true).diagnostics.map {
                $0.text.replacing(path, with: "FOLDER")
            }
        }

        func set(_ attributes: [FileAttributeKey: Any], _ path: String) throws {
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        }
    }

    /// Where only root can write.
    private static let home = "/root"
    private static var isRoot: Bool {
        NSUserName() == "root" && FileManager.default.isWritableFile(atPath: home)
    }

    @Test func `any user may check a folder of their own`() throws {
        let folder = try Folder(in: NSTemporaryDirectory().dropLastSlash)
        #expect(folder.load(asRoot: false).diagnostics.isEmpty)
    }

    @Test func `what lies below a folder that others can write to is not believed`() throws {
        let folder = try Folder(in: NSTemporaryDirectory().dropLastSlash)
        let loaded = folder.load(asRoot: true)
        #expect(loaded.diagnostics.map(\.code) == [.wrongOwner])
        #expect(loaded.policy.rules.isEmpty)
    }

    @Test(.enabled(if: isRoot, "needs a folder of root"))
    func `root's own files are believed`() throws {
        let folder = try Folder(in: Self.home)
        #expect(folder.load(asRoot: true).diagnostics.isEmpty)
        #expect(folder.load(asRoot: true).policy.rules.count == 1)
    }

    @Test(.enabled(if: isRoot, "needs a folder of root"))
    func `a file of another user is not`() throws {
        let folder = try Folder(in: Self.home)
        try folder.set([.ownerAccountID: 1], folder.file)
        #expect(
            folder.told() == [
                """
                FOLDER/10-a.yaml:1:1: error[KC1902]: the file belongs to uid 1, not to root
                   = chown root FOLDER/10-a.yaml

                """
            ])
    }

    @Test(.enabled(if: isRoot, "needs a folder of root"))
    func `a file that others can write to is not`() throws {
        let folder = try Folder(in: Self.home)
        try folder.set([.posixPermissions: 0o664], folder.file)
        #expect(
            folder.told() == [
                """
                FOLDER/10-a.yaml:1:1: error[KC1903]: others than root can write to the file
                   = chmod go-w FOLDER/10-a.yaml

                """
            ])
    }

    @Test(.enabled(if: isRoot, "needs a folder of root"))
    func `a file with a second name is not`() throws {
        let folder = try Folder(in: Self.home)
        try FileManager.default.linkItem(atPath: folder.file, toPath: folder.path + "/other")
        #expect(
            folder.told() == [
                """
                FOLDER/10-a.yaml:1:1: error[KC1904]: the file has 2 names
                   = copy it; a policy has one name

                """
            ])
    }

    @Test(.enabled(if: isRoot, "needs a folder of root"))
    func `a link is not, but for one to the null device, which masks`() throws {
        let folder = try Folder(in: Self.home)
        let link = folder.path + "/20-b.yaml"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: folder.file)
        #expect(
            folder.told() == [
                """
                FOLDER/20-b.yaml:1:1: error[KC1905]: the file can't be read
                   = links are refused

                """
            ])
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "/dev/null")
        let loaded = folder.load(asRoot: true)
        #expect(loaded.diagnostics.isEmpty)
        #expect(loaded.files.map(\.isMask) == [false, true])
    }

    @Test func `a folder that is called like a file is no policy`() throws {
        let folder = try Folder(in: NSTemporaryDirectory().dropLastSlash)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/30-c.yaml", withIntermediateDirectories: false)
        #expect(folder.load(asRoot: false).diagnostics.map(\.code) == [.notARegularFile])
    }

    @Test func `a folder that is not there is told`() {
        let loaded = LoadedPolicies(reading: ["/nowhere/at/all"], today: testDay)
        #expect(loaded.diagnostics.map(\.code) == [.unreadable])
    }
}

extension String {
    fileprivate var dropLastSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
