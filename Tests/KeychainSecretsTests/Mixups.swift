// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts what went wrong on any thread.
final class Mixups: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}
