// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import AdministratorFiles

@Suite struct LockingBoundsTests {
    private func settings(_ text: String) throws(FileMistake) -> KeychainSettings {
        try LockingBounds.settings(FileLine.all(in: text, "/f"))
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
        let mistake = #expect(throws: FileMistake.self) { try settings(text) }
        #expect(mistake?.line == line)
    }

    @Test func `a mistake says what to write`() throws {
        let words = #expect(throws: FileMistake.self) { try settings("lock-after 8 h") }
        #expect(words?.description == "/f:1: expected two words, found 3")
        let setting = #expect(throws: FileMistake.self) { try settings("lock-afterwards 8h") }
        #expect(setting?.description.contains("lock-after with 90s, 15m, 8h or 1d") == true)
    }

    @Test func `without a file no user is bound`() throws {
        #expect(try LockingBounds.file("/nonexistent/locking.conf").now == .loosest)
    }
}

@Suite struct RenamedAccountsTests {
    private func accounts(_ text: String) throws(FileMistake) -> RenamedAccounts {
        try RenamedAccounts(FileLine.all(in: text, "/f"))
    }

    @Test func `an account is called in its keychains as it was before`() throws {
        let accounts = try accounts("# married\nalice alicia\nbob robert\n")
        #expect(accounts.name(of: "alicia") == "alice")
        #expect(accounts.name(of: "robert") == "bob")
        for other in ["alice", "bob", "carol"] { #expect(accounts.name(of: other) == other) }
    }

    @Test(arguments: [("alice", 1), ("alice alicia anna", 1), ("alice anna\n\nbob anna", 3)])
    func `what makes no sense is refused with its line`(text: String, line: Int) throws {
        let mistake = #expect(throws: FileMistake.self) { try accounts(text) }
        #expect(mistake?.line == line)
    }
}
