// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainMaintenance
import KeychainModel
import Testing

@testable import KeychainVaults

/// What interrupted work has left is told from the files of users and of the daemon.
@Suite final class LeftoversTests {
    private let path = NSTemporaryDirectory() + "leftovers-" + UUID().uuidString
    private let folder: KeychainFolder
    private let place = KeychainID(user: geteuid(), name: .login)

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        folder = KeychainFolder(path, layout: .ownUser, accountName: { _ in "me" })
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func write(_ names: [String]) throws {
        for name in names { try Data([1]).write(to: URL(fileURLWithPath: path + "/" + name)) }
    }

    private var names: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
    }

    @Test func `copies on their way go, and no finished file goes with them`() throws {
        let digits = String(repeating: "0f", count: 16)
        let left = [
            "login.keychain.backup-\(digits)", "login.keychain.incoming-\(digits)-wal",
            "login.keychain.incoming-\(digits)-shm", "login.keychain.incoming-new",
            ".login.keychain.1a2b",
        ]
        let kept = [
            "login.keychain", "login.keychain-wal", "login.keychain.generation-1",
            "login.keychain.damaged-1", "login.device-secret", "device.key",
            // Names that a user may give to a keychain.
            "login.keychain.backup-\(digits).keychain", "login.keychain.incoming-new.keychain",
            "login.keychain.backup-of-may.keychain", "work.keychain.backup-\(digits)",
        ]
        try write(left + kept)
        #expect(Leftovers(of: place, in: folder).count == 0)
        Leftovers(of: place, in: folder, olderThan: .seconds(-1)).remove()
        #expect(names == Set(kept))
    }
}
