// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainDaemon

@Suite struct LockingBoundsTests {
    private func settings(_ text: String) throws(LockingBounds.Mistake) -> KeychainSettings {
        try LockingBounds.settings(text, "/f")
    }

    @Test func `a file names what it wants and leaves the rest`() throws {
        let text = "# Office\n\nlock-after-idle\t15m   # no longer\nlock-with-screen yes\n"
        let expected = KeychainSettings(
            lockAfterIdle: 900, locksOnSleep: false, locksWithScreen: true)
        #expect(try settings(text) == expected)
        #expect(try settings("") == .loosest)
    }

    @Test(arguments: [
        ("lock-after 8h\nlock-after 9h", 2), ("lock-after", 1), ("lock-after 8 h", 1),
        ("lock-after never", 1), ("lock-after 0s", 1), ("lock-on-sleep 8h", 1),
        ("\nlock-on-sleep on", 2), ("lock_after 8h", 1), ("lock-after yes", 1),
    ])
    func `what makes no sense is refused with its line`(text: String, line: Int) throws {
        let mistake = #expect(throws: LockingBounds.Mistake.self) { try settings(text) }
        #expect(mistake?.line == line)
    }

    @Test func `without a file no user is bound`() throws {
        #expect(try LockingBounds("/nonexistent/locking.conf").now == .loosest)
    }
}
