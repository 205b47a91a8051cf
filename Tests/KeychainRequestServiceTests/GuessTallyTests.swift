// SPDX-License-Identifier: Apache-2.0
@testable import KeychainVaults
import Testing

/// What wrong passwords cost.
@Suite struct GuessTallyTests {
    /// The shortest and the longest that the pause after so many wrong ones can be, by when they
    /// were counted.
    private func pause(after wrong: Int) -> (atLeast: Duration, atMost: Duration)? {
        var tally = GuessTally()
        let begun = ContinuousClock.now
        for _ in 0..<wrong { tally.addWrong() }
        let ended = ContinuousClock.now
        #expect(tally.wrong == wrong)
        return tally.pausedUntil.map { (ended.duration(to: $0), begun.duration(to: $0)) }
    }

    @Test func `two wrong ones are free`() {
        for count in 0...2 { #expect(pause(after: count) == nil) }
    }

    @Test func `from the third on each doubles the pause, up to five minutes`() throws {
        for (count, seconds) in [
            (3, 2), (4, 4), (5, 8), (9, 128), (10, 256), (11, 300), (500, 300),
        ] {
            let found = try #require(pause(after: count))
            #expect(
                found.atLeast <= .seconds(seconds) && .seconds(seconds) <= found.atMost,
                "\(count)")
        }
    }
}
