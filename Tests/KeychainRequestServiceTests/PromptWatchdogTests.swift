// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import Synchronization
import Testing

@testable import PromptedAuthentication

@Suite struct PromptWatchdogTests {
    private static func sleeper() throws -> ChildProcess {
        try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
    }

    @Test func `what sleeps for ever is ended at its deadline`() throws {
        let child = try Self.sleeper()
        let watch = PromptWatchdog(
            until: .now + .milliseconds(100), unless: { false }, end: { child.kill() })
        watch.start()
        let status = try #require(child.wait(deadlineSeconds: 10))
        #expect(status.code == nil)
    }

    @Test func `it ends long before its deadline where no caller waits any more`() throws {
        let child = try Self.sleeper()
        let isGone = Mutex(false)
        let watch = PromptWatchdog(
            until: .now + .seconds(600), unless: { isGone.withLock { $0 } },
            end: { child.kill() })
        watch.start()
        #expect(child.wait(deadlineSeconds: 0.5) == nil)
        isGone.withLock { $0 = true }
        #expect(child.wait(deadlineSeconds: 10) != nil)
    }

    @Test func `after an answer it ends nothing`() throws {
        let ended = Mutex(false)
        let watch = PromptWatchdog(
            until: .now + .seconds(2), unless: { false },
            end: { ended.withLock { $0 = true } })
        watch.start()
        watch.stop()
        let child = try Self.sleeper()
        #expect(child.wait(deadlineSeconds: 2.5) == nil)
        child.kill()
        #expect(!ended.withLock { $0 })
    }
}
