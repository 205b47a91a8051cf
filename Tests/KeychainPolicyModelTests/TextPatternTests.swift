// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import Testing

@Suite struct `Text patterns` {
    @Test(arguments: [
        ("git", ["git"], ["gi", "gitk", "Git"]),
        ("ssh.*", ["ssh.", "ssh.prod", "ssh.prod/eu"], ["ssh", "xssh.a"]),
        ("ssh.**", ["ssh.", "ssh.a/b"], ["ssh"]),
        (
            "*.corp.example", ["git.corp.example", "a.b.corp.example", ".corp.example"],
            ["corp.example"]
        ),
        ("/opt/*", ["/opt/", "/opt/tool"], ["/opt", "/opt/a/b"]),
        ("/opt/**", ["/opt/", "/opt/a", "/opt/a/b"], ["/opt"]),
        ("/opt/*/bin/x", ["/opt/a/bin/x", "/opt//bin/x"], ["/opt/a/b/bin/x", "/opt/bin/x"]),
        ("/opt/app-*/**", ["/opt/app-1/a/b", "/opt/app-/"], ["/opt/app-1", "/opt/x/app-1/a"]),
        ("a*b", ["ab", "axb", "abb"], ["a/b", "abc", "xab"]),
        ("a*b*", ["ab", "axb/c/d", "abx"], ["a/b", "ba"]),
        ("*", ["", "anything/at all"], []),
    ]) func `match what they say`(_ row: (pattern: String, yes: [String], no: [String])) throws {
        let pattern = try TextPattern(row.pattern)
        for text in row.yes { #expect(pattern.matches(PolicyText(text)), "\(text)") }
        for text in row.no { #expect(!pattern.matches(PolicyText(text)), "\(text)") }
        #expect(try TextPattern(pattern.description) == pattern)
    }

    @Test(arguments: [
        ("", TextPattern.Mistake.empty), ("*suffix", .leadingStar), ("*.a.*", .leadingStar),
        ("*.", .leadingStar), ("**x", .leadingStar), ("a**b", .doubleStarInside),
        ("a***", .doubleStarInside), ("/a/**/b", .doubleStarInside),
    ]) func `refuse what has no meaning`(_ row: (pattern: String, mistake: TextPattern.Mistake)) {
        #expect(throws: row.mistake) { try TextPattern(row.pattern) }
    }

    @Test func `compare bytes, not letters`() {
        let composed = PolicyText("\u{E9}")
        let decomposed = PolicyText("e\u{301}")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(!TextPattern.literal(composed).matches(decomposed))
        #expect(!TextPattern.prefix("e").matches(composed))
    }
}

@Suite struct `Lengths of time` {
    @Test(arguments: [
        ("0s", 0), ("500ms", 500), ("15m", 900_000), ("12h", 43_200_000), ("90d", 7_776_000_000),
    ]) func `read digits and a unit`(_ row: (written: String, milliseconds: Int64)) {
        #expect(PolicyDuration(row.written)?.milliseconds == row.milliseconds)
    }

    @Test(arguments: ["", "5", "m", "-5m", "5 m", "1.5h", "5M", "9223372036854775807d", "٥m"])
    func `are nothing else`(_ written: String) { #expect(PolicyDuration(written) == nil) }

    @Test func `read in the largest unit that divides them`() {
        #expect(PolicyDuration("90m")?.description == "90m")
        #expect(PolicyDuration("120m")?.description == "2h")
        #expect(PolicyDuration("1500ms")?.description == "1500ms")
    }
}

@Suite struct `Windows of the week` {
    private func minute(_ day: Int, _ hour: Int, _ minute: Int = 0) throws -> MinuteOfWeek {
        try #require(MinuteOfWeek(day: day, hour: hour, minute: minute))
    }

    @Test func `are half-open`() throws {
        let window = try #require(WeekWindow(from: 540, to: 1_020))
        #expect(window.contains(try minute(2, 9)))
        #expect(window.contains(try minute(2, 16, 59)))
        #expect(!window.contains(try minute(2, 17)))
        #expect(!window.contains(try minute(2, 8, 59)))
    }

    @Test func `belong to the day on which they start`() throws {
        let friday = try #require(WeekWindow(days: 1 << 4, from: 1_320, to: 360))
        #expect(friday.contains(try minute(4, 22)))
        #expect(friday.contains(try minute(5, 5, 59)))
        #expect(!friday.contains(try minute(5, 6)))
        #expect(!friday.contains(try minute(4, 5)))
        let sunday = try #require(WeekWindow(days: 1 << 6, from: 1_320, to: 360))
        #expect(sunday.contains(try minute(0, 3)))
    }

    @Test func `have two ends and a day`() {
        #expect(WeekWindow(from: 60, to: 60) == nil)
        #expect(WeekWindow(days: 0, from: 0, to: 60) == nil)
        #expect(WeekWindow(from: 0, to: 1_441) == nil)
        #expect(MinuteOfWeek(10_080) == nil)
    }
}
