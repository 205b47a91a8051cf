// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoginManager

@Suite struct SessionFileTests {
    private static func file(_ lines: String...) -> SessionFile {
        SessionFile(lines.joined(separator: "\n") + "\n")
    }

    @Test func `a session's type is the one with which it began`() {
        let file = Self.file("UID=1000", "TYPE=x11", "ORIGINAL_TYPE=tty", "SEAT=seat0", "LEADER=7")
        #expect(file.type == "tty" && file.seat == "seat0" && file.leader == 7)
        #expect(file.controller == nil)
        // As logind wrote it before a type could be changed.
        #expect(Self.file("TYPE=x11").type == "x11")
        #expect(Self.file("UID=1000").type == nil)
    }

    @Test func `lines in a display's name are no facts`() {
        let file = Self.file(
            "IS_DISPLAY=1", "TYPE=x11", "DISPLAY=:7", "ORIGINAL_TYPE=x11", "SEAT=seat0",
            "LEADER=8", "CONTROLLER=:1.8", "", "VTNR=2", "LEADER=7", "CONTROLLER=:1.7")
        #expect(file.type == "x11" && file.seat == nil)
        #expect(file.leader == 7 && file.controller == ":1.7")
        #expect(Self.file("DISPLAY=:7", "TYPE=x11").type == nil)
    }
}
