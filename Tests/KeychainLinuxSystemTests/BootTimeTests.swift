// SPDX-License-Identifier: Apache-2.0
@testable import KeychainLinuxSystem
import Testing

@Suite struct BootTimeTests {
    @Test func `the clock is the one of the standard library's continuous clock`() {
        let epoch = ContinuousClock().systemEpoch
        let before = epoch.duration(to: .now).wholeNanoseconds
        let now = BootTime.now.nanoseconds
        let after = epoch.duration(to: .now).wholeNanoseconds
        #expect((before...after).contains(now))
    }

    @Test func `a time that is added is there again as a difference`() {
        let start = BootTime(nanoseconds: 5)
        for time in [Duration.zero, .nanoseconds(1), .milliseconds(1500), .seconds(1 << 33)] {
            let end = start + time
            #expect(end.nanoseconds(since: start) == time.wholeNanoseconds)
            #expect(start.nanoseconds(since: end) == 0)
            #expect(!(end < start))
        }
        #expect((Duration.milliseconds(1500)).wholeNanoseconds == 1_500_000_000)
    }

    @Test func `a moment that is too far away is the last one, and none is before the start`() {
        let late = BootTime(nanoseconds: .max)
        #expect((late + .nanoseconds(1)).nanoseconds == .max)
        #expect((BootTime.now + .seconds(Int64.max)).nanoseconds == .max)
        #expect((late + .seconds(-1)).nanoseconds == .max)
        #expect(Duration.seconds(-1).wholeNanoseconds == 0)
    }
}
