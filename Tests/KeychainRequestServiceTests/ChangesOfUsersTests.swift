// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainDaemon
@testable import KeychainVaults
@testable import KeychainItemStore

/// What one user's keychains are waited for, and no other's.
@Suite final class ChangesOfUsersTests {
    private let path = NSTemporaryDirectory() + "changes-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static func secret(_ text: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(text.utf8)))
    }

    @Test func `a file that is slow to write keeps no other user's password waiting`() throws {
        let folder = KeychainFolder(
            path, layout: .folderPerUser, accountName: { "user\($0)" })
        let protectors = Protectors(
            folder: folder, deviceKey: .random(), allowsDeviceProtector: false,
            passwordCost: .least)
        for user: UInt32 in [1, 2] {
            try protectors.create(.login, of: user, password: Self.secret("words"))
        }
        let (first, second) = (
            try folder.keychain(nil, of: 1), try folder.keychain(nil, of: 2)
        )
        let (holding, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchGroup()
        Self.start(ended) {
            try? first.file.writing { _ in
                holding.signal()
                goOn.wait()
            }
        }
        holding.wait()
        let changing = Mutex<String?>(nil)
        Self.start(ended) {
            changing.withLock { $0 = Self.ownThread }
            try? protectors.setPassword(
                first, old: Self.secret("words"), new: Self.secret("others"))
        }
        let opened = DispatchSemaphore(value: 0)
        Self.start(ended) {
            // Until the change has derived its keys, and waits to write them.
            var isWaiting = false
            repeat {
                isWaiting = changing.withLock { $0 }.map(Self.sleeps) ?? false
                _ = try? protectors.unlock(second, Self.secret("words"))
            } while !isWaiting
            opened.signal()
        }
        #expect(opened.wait(timeout: .now() + 60) == .success)
        goOn.signal()
        ended.wait()
        _ = try protectors.unlock(first, Self.secret("others"))
    }

    @Test func `work behind one user's login waits for no other user's`() {
        let queues = WorkQueues()
        let goOn = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        let order = Mutex<[Int]>([])
        func start(_ number: Int, for user: UInt32, until goOn: DispatchSemaphore? = nil) {
            done.enter()
            queues.async(for: user) {
                goOn?.wait()
                order.withLock { $0.append(number) }
                done.leave()
            }
        }
        start(1, for: 1, until: goOn)
        start(2, for: 1)
        let other = DispatchSemaphore(value: 0)
        queues.async(for: 2) { other.signal() }
        #expect(other.wait(timeout: .now() + 30) == .success)
        goOn.signal()
        done.wait()
        #expect(order.withLock { $0 } == [1, 2])
    }

    private static func start(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread {
            body()
            group.leave()
        }.start()
    }

    /// `PID/task/TID`.
    private static var ownThread: String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    }

    /// Whether the kernel says that the thread waits for something.
    private static func sleeps(_ thread: String) -> Bool {
        let text = try? String(contentsOfFile: "/proc/\(thread)/stat", encoding: .utf8)
        guard let text, let name = text.lastIndex(of: ")") else { return false }
        return text[name...].hasPrefix(") S")
    }
}
