// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainWorlds
import Testing

/// Eight threads and eight processes at once, on one keychain of this run. Tests/System/test_items.py
/// does the same with a daemon.
@Suite struct KeychainConcurrency {
    @Test func `threads lose nothing and never see half of a write`() async throws {
        try await Crowd(service: freshService()).runThreads()
    }

    @Test func `processes lose nothing and never see half of a write`() async throws {
        let service = freshService()
        let crowd = Crowd(service: service)
        try crowd.prepare()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Crowd.workers {
                group.addTask {
                    await #expect(processExitsWith: .success) { [service = service as String] in
                        let crowd = Crowd(service: service)
                        // An error that left this closure would end the process by a trap (SIGILL),
                        // and its text would be lost.
                        do { try crowd.report(crowd.work(as: "process \(getpid())")) } catch {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
        }
        try crowd.check(crowd.reports())
    }
}
