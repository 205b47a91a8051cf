// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@Suite struct KeychainSettingsTests {
    @Test(
        arguments: [
            ("90s", 90), ("15m", 900), ("8h", 28800), ("1d", 86400), ("1s", 1),
        ] as [(String, UInt32)])
    func `a time is a number and a unit`(text: String, seconds: UInt32) {
        #expect(TimeSpan(text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "m", "15", "0m", "-1m", "+1m", "1.5h", "1 h", "１m", "1w", "49711d", "4294967296s",
        "1hh",
    ])
    func `anything else is no time`(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test func `a time is shown in the largest unit that fits`() {
        let shown = [1, 60, 90, 3600, 5400, 86400].map { TimeSpan(seconds: $0).description }
        #expect(shown == ["1s", "1m", "90s", "1h", "90m", "1d"])
    }

    @Test func `a change leaves what it does not name`() {
        let old = KeychainSettings(lockAfterIdle: 60, lockAfter: 3600, locksOnSleep: false)
        var change = KeychainSettingsChange()
        #expect(change.isEmpty && old.changed(by: change) == old)
        change.lockAfterIdle = 0
        change.locksWithScreen = false
        #expect(
            old.changed(by: change)
                == KeychainSettings(
                    lockAfter: 3600, locksOnSleep: false, locksWithScreen: false))
    }

    @Test func `looser is whatever leaves a keychain open where it would be closed`() {
        let old = KeychainSettings(lockAfterIdle: 60)
        #expect(!old.isLooser(than: old))
        #expect(!KeychainSettings(lockAfterIdle: 30, lockAfter: 60).isLooser(than: old))
        #expect(KeychainSettings(lockAfterIdle: 61).isLooser(than: old))
        #expect(KeychainSettings().isLooser(than: old))
        #expect(
            KeychainSettings(lockAfterIdle: 30, locksOnSleep: false).isLooser(than: old))
        #expect(
            KeychainSettings(lockAfterIdle: 30, locksWithScreen: false).isLooser(than: old))
    }
}
