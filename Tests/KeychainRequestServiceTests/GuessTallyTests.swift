// SPDX-License-Identifier: Apache-2.0
@testable import KeychainVaults
import Testing

/// What wrong passwords cost.
@Suite struct GuessTallyTests {
    /// The pause after so many wrong ones in a row.
    private func pause(after wrong: Int) throws -> Duration? {
        var tally = GuessTally()
        let begun = ContinuousClock.now
        for _ in 0..<wrong { tally.addWrong() }
        #expect(tally.wrong == wrong)
        #expect(tally.isPaused == (tally.pausedUntil != nil))
        return tally.pausedUntil.map { begun.duration(to: $0) }
    }

    @Test func `two wrong ones are free`() throws {
        for count in 0...2 { #expect(try pause(after: count) == nil) }
    }

    @Test func `from the third on each doubles the pause, up to five minutes`() throws {
        for (count, seconds) in [
            (3, 2), (4, 4), (5, 8), (9, 128), (10, 256), (11, 300), (500, 300),
        ] {
            let pause = try #require(try pause(after: count))
            #expect(
                pause >= .seconds(seconds) && pause < .seconds(min(2 * seconds, seconds + 30)),
                "\(count)")
        }
    }
}
