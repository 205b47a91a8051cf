// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainModel

/// Slows down programs that guess application passwords, as `UnlockThrottle` does for keychains.
///
/// Each item has a tally of its own. The right password of another item, which may be the guessing
/// program's own, says nothing about this one; and a program that guesses at its own items delays
/// no other program.
package final class ItemThrottle: @unchecked Sendable {
    package struct Target: Hashable {
        package let keychain: KeychainID
        package let item: ItemReference

        package init(keychain: KeychainID, item: ItemReference) {
            self.keychain = keychain
            self.item = item
        }
    }

    /// The most items of one user that are counted. Each wrong password costs three derivations, so
    /// a program that pushes a tally out with guesses at other items needs longer than any pause.
    private static let mostForUser = 4096
    private static let patience: Duration = .seconds(30)

    private let condition = Condition()
    private var trying: Set<Target> = []
    private var tallies: [UInt32: [Target: GuessTally]] = [:]

    package init() {}

    /// Throws while one of the targets is paused.
    package func check(_ targets: Set<Target>) throws(RequestError) {
        condition.lock()
        defer { condition.unlock() }
        guard !targets.contains(where: isPaused) else { throw .refused(.tooManyRequests) }
    }

    /// Begins a try of one password for all targets. An item has one try at a time: the next waits
    /// for its outcome, so that parallel guesses count like serial ones. Each call that doesn't
    /// throw must be followed by an `end`.
    package func begin(_ targets: Set<Target>) throws(RequestError) {
        condition.lock()
        defer { condition.unlock() }
        let deadline = ContinuousClock.now + Self.patience
        while !trying.isDisjoint(with: targets) {
            guard condition.wait(until: deadline) else { throw .refused(.tooManyRequests) }
        }
        guard !targets.contains(where: isPaused) else { throw .refused(.tooManyRequests) }
        trying.formUnion(targets)
    }

    package func end(_ targets: Set<Target>, _ outcome: UnlockThrottle.Outcome) {
        guard !targets.isEmpty else { return }
        condition.lock()
        defer { condition.unlock() }
        trying.subtract(targets)
        condition.broadcast()
        for target in targets {
            switch outcome {
            case .right: forget(target)
            case .wrong: addWrong(target)
            case .undecided: break
            }
        }
    }

    private func isPaused(_ target: Target) -> Bool {
        tallies[target.keychain.user]?[target]?.isPaused ?? false
    }

    private func forget(_ target: Target) {
        let user = target.keychain.user
        tallies[user]?[target] = nil
        if tallies[user]?.isEmpty == true { tallies[user] = nil }
    }

    private func addWrong(_ target: Target) {
        var mine = tallies.removeValue(forKey: target.keychain.user) ?? [:]
        if mine[target] == nil, mine.count >= Self.mostForUser {
            // The tally dropped first is one without a running pause, else the one whose pause ends
            // soonest.
            let now = ContinuousClock.now
            let first = mine.min { ($0.value.pausedUntil ?? now) < ($1.value.pausedUntil ?? now) }
            if let first { mine[first.key] = nil }
        }
        mine[target, default: GuessTally()].addWrong()
        tallies[target.keychain.user] = mine
    }
}
