// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import SecurityTool

@Suite struct OptionReading {
    private func read(_ words: [String], _ letters: String) throws -> Options {
        try Options(words, letters: letters)
    }

    @Test func `a value stands behind its letter or is the next word`() throws {
        for words in [["-s", "mail"], ["-smail"], ["-gs", "mail"], ["-gsmail"]] {
            #expect(try read(words, "gs:")["s"] == "mail", "\(words)")
        }
    }

    @Test func `the first word that is no option ends them`() throws {
        let options = try read(["-g", "work", "-s", "mail"], "gs:")
        #expect(options.words == ["work", "-s", "mail"])
        #expect(options["s"] == nil)
    }

    @Test func `two dashes end the options and a single dash is a word`() throws {
        #expect(try read(["-g", "--", "-s"], "gs:").words == ["-s"])
        #expect(try read(["-", "x"], "g").words == ["-", "x"])
    }

    @Test func `a value may begin with a dash`() throws {
        #expect(try read(["-s", "-g"], "gs:")["s"] == "-g")
    }

    @Test func `an option of which the value may be missing is only that as the last word`() throws
    {
        let asked = try read(["-a", "me", "-w"], "a:w?")
        #expect(asked.has("w"))
        #expect(asked["w"] == nil)
        let given = try read(["-w", "-a", "me"], "a:w?")
        #expect(given["w"] == "-a")
        #expect(given.words == ["me"])
    }

    @Test func `of an option given twice the last counts and all are kept`() throws {
        let options = try read(["-T", "a", "-T", "b"], "T:")
        #expect(options["T"] == "b")
        #expect(options.all("T") == ["a", "b"])
    }

    @Test func `unknown letters and missing values are told`() {
        #expect(throws: Options.Mistake.unknown("z")) { try read(["-gz"], "gs:") }
        #expect(throws: Options.Mistake.valueMissing("s")) { try read(["-g", "-s"], "gs:") }
        for mark in ["-:", "-?"] {
            #expect(throws: Options.Mistake.self) { try read([mark], "a:w?") }
        }
    }

    @Test(
        arguments: [
            ("a b", ["a", "b"]), ("  a\tb ", ["a", "b"]), ("\"a b\" 'c d'", ["a b", "c d"]),
            ("a\\ b", ["a b"]), ("\"a\\\"b\"", ["a\"b"]), ("'a\\b'", ["a\\b"]), ("\"\"", [""]),
            ("a\"b c\"d", ["ab cd"]), ("", []),
        ] as [(String, [String])])
    func `a line is words, quotes and backslashes`(_ line: String, _ words: [String]) {
        #expect(CommandLineWords.of(line) == words)
    }

    @Test(arguments: ["\"a", "'a", "a\\"])
    func `a line whose quote does not end is none`(_ line: String) {
        #expect(CommandLineWords.of(line) == nil)
    }

    @Test(arguments: [["a"], ["a b", "\"", "\\", ""], ["ü'x"]])
    func `quoted words are read back`(_ words: [String]) {
        #expect(CommandLineWords.of(CommandLineWords.quoted(words)) == words)
    }

    @Test func `secrets are not among the words that are shown`() {
        let words = ["add-generic-password", "-a", "me", "-w", "secret"]
        #expect(
            CommandLineWords.hiding(words, behind: "pwX")
                == ["add-generic-password", "-a", "me", "-w", "…"])
        #expect(CommandLineWords.hiding(["x", "-wsecret"], behind: "w") == ["x", "-w…"])
        #expect(
            CommandLineWords.hiding(
                ["-u", "acct=me,v_Data=secret,desc=x", "v_Data=y"], behind: "w")
                == ["-u", "acct=me,v_Data=…", "v_Data=…"])
    }

    @Test func `codes have four characters`() {
        #expect(FourCharacters("http")?.number == 0x6874_7470)
        #expect(FourCharacters("ftp") == nil)
        #expect(
            FourCharacters.complaint(about: "ftp").contains("(Try \"ftp \" instead of \"ftp\")"))
        #expect(!FourCharacters.complaint(about: "https").contains("Try"))
    }
}
