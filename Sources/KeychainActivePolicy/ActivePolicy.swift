// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainPolicyEngine
internal import KeychainSecrets

/// The policy that requests are judged by. A reload swaps it; who has begun with one ends with it.
package final class ActivePolicy: Sendable {
    /// A policy and what it lets others know of (`PolicySet.reachOnly`).
    package struct Pair: Sendable {
        package let judge: Judge
        package let reach: CompiledPolicy

        package init(_ policy: CompiledPolicy, reach: CompiledPolicy) {
            judge = Judge(policy)
            self.reach = reach
        }
    }

    /// Which files it was made of, and what became of the last that were looked at.
    package struct Report: Sendable, Equatable {
        /// Others are in force than the files say.
        package var isDegraded = false
        /// For people, and for everybody to see.
        package var text = ""

        package init(isDegraded: Bool = false, text: String = "") {
            self.isDegraded = isDegraded
            self.text = text
        }
    }

    private struct State {
        var pair: Pair
        var report = Report()
        var listeners: [@Sendable (Report) -> Void] = []
        var reload: (@Sendable () -> Bool)?
    }
    /// Every request reads it.
    private let state: ShortLock<State>

    package init(_ pair: Pair = Pair(.empty, reach: .empty)) {
        state = ShortLock(State(pair: pair))
    }

    package var now: Pair { state.withLock { $0.pair } }

    package var report: Report { state.withLock { $0.report } }

    package func use(_ pair: Pair) {
        // The old one ends after the lock: that takes its time where it has many rules.
        let old = state.withLock { state in
            defer { state.pair = pair }
            return state.pair
        }
        withExtendedLifetime(old) {}
    }

    package func tell(_ report: Report) {
        let listeners = state.withLock { state in
            state.report = report
            return state.listeners
        }
        for listener in listeners { listener(report) }
    }

    /// Hears what has been told last, and whatever is from now on; must not take its time.
    package func onReport(_ listener: @escaping @Sendable (Report) -> Void) {
        let report = state.withLock { state in
            state.listeners.append(listener)
            return state.report
        }
        listener(report)
    }

    /// How the policies are read again when a request asks for it.
    package func onReload(_ reload: @escaping @Sendable () -> Bool) {
        state.withLock { $0.reload = reload }
    }

    /// False where nothing new could be taken.
    package func reload() -> Bool {
        guard let reload = state.withLock({ $0.reload }) else { return false }
        return reload()
    }
}
