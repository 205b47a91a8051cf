// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainModel

/// Slows down programs that try application passwords, as `UnlockThrottle` does with those of keychains.
///
/// Each item counts for itself: the right password of another item, which may be the guessing
/// program's own, says nothing about this one; and a program that guesses at its own items keeps no
/// other program from its.
package final class ItemThrottle: @unchecked Sendable {
    package struct Target: Hashable {
        package let keychain: KeychainID
        package let item: ItemReference

        package init(keychain: KeychainID, item: ItemReference) {
            self.keychain = keychain
            self.item = item
        }
    }

    /// Items of one user that are counted. Each costs three derivations: so the time in which a
    /// program could have one forgotten, by wrong passwords for others, is longer than any pause.
    private static let mostForUser = 4096
    private static let patience: Duration = .seconds(30)

    private let condition = Condition()
    private var trying: Set<Target> = []
    private var tallies: [UInt32: [Target: GuessTally]] = [:]

    package init() {}

    /// Throws while one of them has to wait out a pause.
    package func check(_ targets: Set<Target>) throws(RequestError) {
        condition.lock()
        defer { condition.unlock() }
        guard !targets.contains(where: isPaused) else { throw .refused(.tooManyRequests) }
    }

    /// Begins a try of one password for all of them. One try of an item at a time: the next waits for
    /// what comes of it, so that many at once are no more guesses than one after the other. Each that
    /// does not throw is followed by an `end`.
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
            // Those that need not wait go first, then the one whose pause is over soonest.
            let now = ContinuousClock.now
            let first = mine.min { ($0.value.pausedUntil ?? now) < ($1.value.pausedUntil ?? now) }
            if let first { mine[first.key] = nil }
        }
        mine[target, default: GuessTally()].addWrong()
        tallies[target.keychain.user] = mine
    }
}
