// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Threads that may wait, for a disk or for a person: not the few that all of Swift's tasks share.
enum Waiting {
    /// On a queue of its own, which has a thread at once. A concurrent queue would wait a second for
    /// each one that it has beyond the number of processors.
    static func run(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "Keychain").async(execute: body)
    }

    static func run<R: Sendable>(
        _ body: @escaping @Sendable () throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        let result: Result<R, KeychainError> = await withCheckedContinuation { continuation in
            run { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
