// SPDX-License-Identifier: Apache-2.0
public import AccessControl
internal import Synchronization

/// The policy that requests are judged by. A reload swaps it; who has begun with one ends with it.
public final class PolicyInForce: Sendable {
    /// A policy and what it lets others know of (`PolicySet.reachOnly`).
    public struct Pair: Sendable {
        public let judge: Judge
        public let reach: CompiledPolicy

        public init(_ policy: CompiledPolicy, reach: CompiledPolicy) {
            judge = Judge(policy)
            self.reach = reach
        }
    }

    private let current: Mutex<Pair>

    public init(_ pair: Pair = Pair(.empty, reach: .empty)) { current = Mutex(pair) }

    public var now: Pair { current.withLock { $0 } }

    public func use(_ pair: Pair) { current.withLock { $0 = pair } }
}
