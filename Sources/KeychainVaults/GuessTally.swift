// SPDX-License-Identifier: Apache-2.0

/// Wrong passwords in a row, and the pause that they cost: none before the third, then one that
/// doubles up to five minutes.
struct GuessTally {
    private static let free = 3
    private static let longestPause: Duration = .seconds(300)

    private(set) var wrong = 0
    private(set) var pausedUntil: ContinuousClock.Instant?

    var isPaused: Bool { pausedUntil.map { .now < $0 } ?? false }

    mutating func addWrong() {
        wrong += 1
        guard wrong >= Self.free else { return }
        pausedUntil = .now + min(.seconds(2 << min(wrong - Self.free, 10)), Self.longestPause)
    }
}
