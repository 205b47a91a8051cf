// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Secrets
import Synchronization
import Testing

@testable import KeychainService

@Suite final class DerivationTurnTests {
    private let home = NSTemporaryDirectory() + "turns-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: home) }

    @Test func `who has many derivations under way waits for himself alone`() throws {
        let protectors = Protectors(
            folder: KeychainFolder(home, layout: .ownUser, accounts: AccountNames { _ in nil }),
            deviceKey: .random(), allowsDeviceProtector: true)
        let order = Order()
        let running = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        Self.start(ended) {
            try? protectors.derive(for: 1) { () throws(Refusal) in
                running.signal()
                goOn.wait()
            }
        }
        running.wait()
        for user: UInt32 in [1, 1, 1, 1, 2] {
            let thread = Mutex<String?>(nil)
            Self.start(ended) {
                thread.withLock { $0 = Self.ownThread }
                try? protectors.derive(for: user) { () throws(Refusal) in order.add(user) }
            }
            // Until it waits for its turn.
            while thread.withLock({ $0 }).map(Self.sleeps) != true { usleep(1000) }
        }
        goOn.signal()
        ended.wait()
        #expect(order.users == [2, 1, 1, 1, 1])
    }

    private final class Order: Sendable {
        private let known = Mutex<[UInt32]>([])
        var users: [UInt32] { known.withLock { $0 } }
        func add(_ user: UInt32) { known.withLock { $0.append(user) } }
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
