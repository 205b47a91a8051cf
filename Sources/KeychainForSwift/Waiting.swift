// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Threads that may block for a disk or for a user: not the few that all of Swift's tasks share.
enum Waiting {
    typealias Call = @Sendable () -> Void

    /// The most calls of this program at a time. All programs of a user together have 32
    /// connections to the daemon.
    static let mostAtOnce = 8

    private struct Calls {
        var running = 0
        var waiting: [Call] = []

        /// Whether the call may begin now.
        mutating func begin(_ call: @escaping Call) -> Bool {
            guard running < Waiting.mostAtOnce else {
                waiting.append(call)
                return false
            }
            running += 1
            return true
        }

        /// Returns the next call for the thread of one that has ended.
        mutating func end() -> Call? {
            guard waiting.isEmpty else { return waiting.removeFirst() }
            running -= 1
            return nil
        }
    }

    private static let calls = Mutex(Calls())

    static func begin(_ call: @escaping Call) {
        guard calls.withLock({ $0.begin(call) }) else { return }
        // A serial queue has a thread at once. A concurrent one would wait a second for each thread
        // beyond the number of processors.
        DispatchQueue(label: "Keychain").async {
            var next: Call? = call
            while let current = next {
                current()
                next = calls.withLock { $0.end() }
            }
        }
    }

    static func run<R: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        let result: Result<R, KeychainError> = await withCheckedContinuation { continuation in
            begin { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
