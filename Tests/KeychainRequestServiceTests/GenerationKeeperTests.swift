// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMaintenance
import KeychainVaults
import Testing

/// The daily look at the keychains of all users.
@Suite final class GenerationKeeperTests {
    private let path = NSTemporaryDirectory() + "generations-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes files that are no keychains: of each the log is told.
    private func folder(_ files: [String]) throws -> KeychainFolder {
        for file in files {
            let file = URL(filePath: path + "/" + file)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("no keychain".utf8).write(to: file)
        }
        return KeychainFolder(path, layout: .folderPerUser, accountName: { _ in "a" })
    }

    @Test func `a user whose keychains take long delays no other user's`() throws {
        let (isTold, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let folder = try folder(["1/login.keychain", "1/work.keychain", "2/login.keychain"])
        let keeper = GenerationKeeper(folder) { words in
            guard words.contains("of uid 1") else {
                isTold.signal()
                return
            }
            goesOn.wait()
            goesOn.signal()
        }
        keeper.keepIfDue()
        #expect(isTold.wait(timeout: .now() + 30) == .success)
        goesOn.signal()
    }

    @Test func `former secrets come before copies, and each keychain has both`() throws {
        let told = Box<[String]>([])
        let folder = try folder(["1/login.keychain", "1/work.keychain", "2/login.keychain"])
        let keeper = GenerationKeeper(folder) { words in told.change { $0.append(words) } }
        keeper.keepWhatIsDue()
        #expect(told.value.count == 6)
        for keychain in ["login of uid 1", "work of uid 1", "login of uid 2"] {
            let own = told.value.filter { $0.contains(keychain) }.map { $0.prefix(6) }
            #expect(own == ["former", "no gen"])
        }
    }
}
