// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainCommands

/// What a name is looked for as.
@Suite struct NamedItemsTests {
    private func queries(
        _ name: String, _ kind: ItemKind? = nil, _ change: (inout WantedItems) -> Void = { _ in }
    ) -> [ItemQuery] {
        var wanted = WantedItems()
        change(&wanted)
        return NamedItems(name: ItemName(name), kind: kind, wanted: wanted).queries()
    }

    @Test func `a name is a service, then a server, then a label of each class`() {
        let found = queries("mail")
        #expect(
            found.map(\.itemClass) == [
                .genericPassword, .internetPassword, .genericPassword, .internetPassword,
                .certificate, .key,
            ])
        #expect(found[0].attributes == [.service: .string("mail")])
        #expect(found[1].attributes == [.server: .string("mail")])
        #expect(found.dropFirst(2).allSatisfy { $0.attributes == [.label: .string("mail")] })
    }

    @Test func `a name that may mean several asks for two, so that none is taken for another`() {
        #expect(queries("mail").allSatisfy { $0.limit == 2 })
    }

    @Test func `a name with its account asks for the one item there can be`() {
        let first = queries("mail/me")[0]
        #expect(first.attributes == [.service: .string("mail"), .account: .string("me")])
        #expect(first.limit == 1)
    }

    @Test func `the account stands behind the last slash, and the whole is a name, too`() {
        let services = queries("a/b/c", .genericPassword).map { $0.attributes[.service] }
        #expect(services == [.string("a/b"), nil, .string("a/b/c"), nil])
    }

    @Test(arguments: ["mail/", "/mail", "/"])
    func `where nothing stands before or behind the slash there is no account`(_ name: String) {
        #expect(ItemName(name).parts == nil)
    }

    @Test func `a server may be named with its port`() {
        let found = queries("git.example:8443/ci", .internetPassword)
        #expect(
            found.contains {
                $0.attributes == [
                    .server: .string("git.example"), .port: .number(8443), .account: .string("ci"),
                ]
            })
    }

    @Test func `an attribute that a class does not have leaves that class out`() {
        let found = queries("mail") { $0.values.path = "/a" }
        #expect(found.allSatisfy { $0.itemClass == .internetPassword })
    }

    @Test func `an account that was said otherwise is not taken from the name`() {
        let found = queries("mail/me") { $0.values.account = "you" }
        #expect(found.allSatisfy { $0.attributes[.account] == .string("you") })
        #expect(found.first?.attributes[.service] == .string("mail/me"))
    }
}

@Suite struct UnknownWordTests {
    @Test(arguments: [
        (["update", "generic-password", "--set-label", "x"], "--new-label"),
        (["get", "mail", "--acount", "me"], "--account"),
        (["lits"], "list"), (["protector", "ad"], "add"), (["stauts", "--json"], "status"),
        (["former"], "“secrets former”"), (["access", "list"], "“show”, “add”"),
        (["nonsense"], "keychainctl --help"),
    ])
    func `a word that is not known is named with what may have been meant`(
        _ words: [String], _ meant: String
    ) {
        #expect(UnknownWord(in: words, of: KeychainCommand.self)?.sentence.contains(meant) == true)
    }

    @Test(arguments: [
        ["list", "--json"], ["get", "mail", "--account=me"], ["set", "a", "--generate=12"],
        ["run", "--env", "A=b", "--", "x", "--unknown"], ["help", "lits"], ["--help"], [],
    ])
    func `known words are not unknown`(_ words: [String]) {
        #expect(UnknownWord(in: words, of: KeychainCommand.self) == nil)
    }

    @Test func `letters that are exchanged are one change`() {
        #expect(UnknownWord.distance("lits", "list") == 1)
        #expect(UnknownWord.distance("", "abc") == 3)
        #expect(UnknownWord.distance("set", "new") == 2)
    }
}

@Suite struct SecretTemplateTests {
    private func pieces(_ text: String) throws -> [SecretTemplate.Piece] {
        try SecretTemplate(Array(text.utf8)).pieces
    }

    @Test func `places are names, all else stays as it is`() throws {
        #expect(
            try pieces("a {{ keychain \"x/y\" }}{{keychain \"z\"}}\nb") == [
                .text(Array("a ".utf8)), .secret("x/y"), .secret("z"), .text(Array("\nb".utf8)),
            ])
        for other in ["{{ other }}", "{{", "{{ keychains \"a\" }}", "{ { keychain", "}}", ""] {
            #expect(try pieces(other) == (other.isEmpty ? [] : [.text(Array(other.utf8))]))
        }
    }

    @Test func `a quote in a name stands behind a backslash`() throws {
        #expect(try pieces(#"{{ keychain "a\"b\\c" }}"#) == [.secret(#"a"b\c"#)])
    }

    @Test func `a filled template is no longer than it may be, and nothing is asked for in vain`()
        throws
    {
        let template = try SecretTemplate(Array(#"a{{ keychain "x" }}b{{ keychain "x" }}c"#.utf8))
        var asked = 0
        func filled(_ limit: Int) -> [UInt8]? {
            template.filled(atMost: limit) { _ in
                asked += 1
                return HeldSecret(SecretBytes(copying: Array("1234".utf8)))
            }?.bytes.releasedFromLockedMemory()
        }
        #expect(filled(11) == Array("a1234b1234c".utf8) && asked == 2)
        #expect(filled(10) == nil && asked == 4)
        #expect(filled(4) == nil && asked == 5)
    }

    @Test(arguments: [
        "{{ keychain x }}", "{{ keychain \"x }}", "{{ keychain \"\" }}", "{{ keychain \"x\" }",
        "{{ keychain \"x\n\" }}", "{{ keychain \"x\\", "{{ keychain ",
    ])
    func `a place that is not as it should be is refused with its line`(_ text: String) {
        #expect(throws: SecretTemplate.Malformed(line: 3)) { try pieces("1\n2\n" + text) }
    }
}

@Suite struct ImportTests {
    @Test func `a bar is as long as what is done`() {
        func line(_ done: Int, of total: Int?) -> String {
            ProgressBar.line("Adding", done, of: total, after: .seconds(2))
        }
        #expect(line(1, of: 4) == "Adding [######------------------] 25 %")
        #expect(line(9, of: 4).hasSuffix("100 %"))
        #expect(line(7, of: nil) == "Adding 7")
        #expect(line(0, of: nil) == "Adding, 2 s")
    }

    @Test func `a made up secret is of the length that was said, by default 32`() {
        #expect(GeneratedSecret.spelledOut(["set", "--generate", "a"])[1] == "--generate=32")
        #expect(GeneratedSecret.spelledOut(["run", "--", "--generate"])[2] == "--generate")
        #expect(GeneratedSecret.length("7") == nil && GeneratedSecret.length("8") == 8)
    }

    @Test func `an item is the same by what makes it one in a keychain`() {
        let one = ImportKey(.genericPassword, [.service: .string("a"), .comment: .string("x")])
        #expect(
            one == ImportKey(.genericPassword, [.service: .string("a"), .account: .string("")]))
        #expect(one != ImportKey(.genericPassword, [.service: .string("b")]))
        #expect(one != ImportKey(.internetPassword, [.server: .string("a")]))
    }
}
