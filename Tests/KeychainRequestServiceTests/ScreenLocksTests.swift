// SPDX-License-Identifier: Apache-2.0
@testable import LoginRegistry
import Testing

@Suite struct ScreenLocksTests {
    private let screens = ScreenLocks()

    @Test func `nothing is known before logind is heard, and none of it after it is gone`() {
        #expect(screens.isLocked("1") == nil)
        screens.note("1", isLocked: true)
        #expect(screens.isLocked("1") == nil)
        screens.know(["1"])
        #expect(screens.isLocked("1") == true)
        #expect(screens.isLocked("2") == false)
        screens.knowNothing()
        #expect(screens.isLocked("1") == nil)
    }

    @Test func `a screen is as it was said last`() {
        screens.know([])
        screens.note("1", isLocked: true)
        #expect(screens.isLocked("1") == true && screens.isLocked("2") == false)
        screens.note("1", isLocked: false)
        #expect(screens.isLocked("1") == false)
    }
}
