// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
@testable import KeychainVaults
import Testing

/// The files that the folder of all users keeps open.
@Suite final class OpenFilesTests {
    private let path = NSTemporaryDirectory() + "open-files-" + UUID().uuidString
    private let folder: KeychainFolder

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        folder = KeychainFolder(path, layout: .folderPerUser, accountName: { _ in "a" })
        let protectors = Protectors(
            folder: folder, deviceKey: try Protectors.deviceKey(at: path + "/device.key"),
            allowsDeviceProtector: true)
        for user: UInt32 in [1, 2] { try protectors.create(.login, of: user, password: nil) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func open(_ name: String, of user: UInt32) throws -> OpenKeychain {
        try folder.keychain(name, of: user)
    }

    @Test func `a user with many keychains closes their own first`() throws {
        let names = (0..<KeychainFolder.mostOpen).map { "work\($0)" }
        for name in names {
            try FileManager.default.copyItem(
                atPath: path + "/1/login.keychain", toPath: path + "/1/\(name).keychain")
        }
        let theirs = try open("login", of: 2)
        let own = try names.map { try open($0, of: 1) }
        #expect(try open("login", of: 2) === theirs)
        #expect(try open(names[1], of: 1) === own[1])
        #expect(try open(names[0], of: 1) !== own[0])
    }
}
