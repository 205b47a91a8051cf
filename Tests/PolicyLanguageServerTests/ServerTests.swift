// SPDX-License-Identifier: Apache-2.0
import Foundation
import PolicyLanguage
import PolicySyntax
import Testing

@testable import PolicyLanguageServer

/// What an editor hears.
@Suite struct ServerTests {
    private static let address = "file:///nowhere/p.yaml"
    private static let head = "policy: v1\nname: n\n"

    private func code(_ answer: JSONValue?) -> Int? { answer?["error"]?["code"]?.number }

    // MARK: Life

    @Test func `it is initialised, shut down and ended in this order`() throws {
        var editor = try Editor(initialized: false)
        #expect(code(try editor.answer("textDocument/hover", [:])) == -32002)
        let result = try editor.ask("initialize", ["capabilities": [:]])
        #expect(result?["capabilities"]?["textDocumentSync"]?["change"]?.number == 1)
        #expect(result?["capabilities"]?["positionEncoding"]?.text == "utf-16")
        #expect(code(try editor.answer("initialize", [:])) == -32600)
        #expect(code(try editor.answer("textDocument/fly", [:])) == -32601)
        #expect(try editor.answer("shutdown", .null)["error"] == nil)
        #expect(code(try editor.answer("textDocument/hover", [:])) == -32600)
        #expect(editor.server.exitCode == nil)
        _ = try editor.tell("exit", .null)
        #expect(editor.server.exitCode == 0)
    }

    @Test func `an end without a shutdown is a failure`() throws {
        var editor = try Editor()
        _ = try editor.tell("exit", .null)
        #expect(editor.server.exitCode == 1)
    }

    @Test(arguments: [
        ("nonsense", -32700), ("", -32700), ("{\"id\": 1", -32700), ("[]", -32600), ("1", -32600),
        ("{\"id\": 1}", -32600), ("{\"id\": 1.5, \"method\": \"shutdown\"}", -32600),
        ("{\"id\": [], \"method\": \"shutdown\"}", -32600),
        ("{\"id\": 1, \"id\": 2, \"method\": \"shutdown\"}", -32700),
    ])
    func `what is no request is answered with an error`(_ text: String, _ expected: Int) throws {
        var editor = try Editor()
        #expect(try editor.send(text).map { code($0) } == [expected])
    }

    @Test func `deep, invalid and broken messages are errors, and the next is answered`() throws {
        var editor = try Editor()
        let deep = String(repeating: "[", count: 100_000)
        #expect(code(try editor.send("{\"a\": \(deep)").first) == -32700)
        let many = "[" + String(repeating: "0,", count: 200_000) + "0]"
        #expect(code(try editor.send(many).first) == -32700)
        let answered = editor.server.answer(.message([0x7B, 0xFF, 0x00, 0x7D]))
        #expect(code(try Editor.read(try #require(answered.first))) == -32700)
        #expect(
            code(try Editor.read(try #require(editor.server.answer(.tooLong(9)).first))) == -32600)
        #expect(editor.server.exitCode == nil)
        #expect(try editor.answer("shutdown", .null)["error"] == nil)
        #expect(
            code(try Editor.read(try #require(editor.server.answer(.noHeader).first))) == -32700)
        #expect(editor.server.exitCode == 1)
    }

    // MARK: Diagnostics

    @Test func `a mistake has its code, its place in UTF-16 and a fix`() throws {
        var editor = try Editor()
        let text = Self.head + "rules: [{id: a, forbid: \"😀\", subject: {unt: x}}]\n"
        let found = try #require(try editor.open(text, at: Self.address)[Self.address]?.first)
        #expect(found["code"]?.text == "KC2003" && found["severity"]?.number == 1)
        let line = "rules: [{id: a, forbid: \"😀\", subject: {"
        #expect(found["range"]?["start"]?["line"]?.number == 2)
        #expect(found["range"]?["start"]?["character"]?.number == line.utf16.count)
        #expect(found["range"]?["end"]?["character"]?.number == line.utf16.count + 3)
        let fixes = try editor.ask(
            "textDocument/codeAction",
            [
                "textDocument": ["uri": .text(Self.address)], "range": [:],
                "context": ["diagnostics": [found]],
            ])
        let edit = fixes?.items.first?["edit"]?["changes"]?[Self.address]?.items.first
        #expect(edit?["newText"]?.text == "unit" && edit?["range"] == found["range"])
    }

    @Test func `what lint knows is told where there is no mistake, and goes away`() throws {
        var editor = try Editor()
        let text = Self.head + "rules:\n  - id: a\n    forbid: no\n    operations: export\n"
        let found = try editor.open(text, at: Self.address)[Self.address] ?? []
        #expect(found.contains { $0["code"]?.text == "KC3301" && $0["severity"]?.number == 2 })
        _ = try editor.tell(
            "textDocument/didChange",
            [
                "textDocument": ["uri": .text(Self.address), "version": 2],
                "contentChanges": [["text": .text(Self.head)]],
            ])
        #expect(try editor.diagnoses() == [Self.address: []])
        _ = try editor.tell(
            "textDocument/didClose", ["textDocument": ["uri": .text(Self.address)]])
        #expect(!(try editor.diagnoses().contains { !$0.value.isEmpty }))
    }

    @Test func `an id that is taken points to the other file`() throws {
        var editor = try Editor()
        let rule = "rules: [{id: a.b, forbid: no, operations: export}]\n"
        _ = try editor.open(Self.head + rule, at: Self.address)
        let found = try editor.open(
            "policy: v1\nname: m\n" + rule, at: "file:///nowhere/q%20r.yaml")
        let taken = try #require(
            found["file:///nowhere/q%20r.yaml"]?.first { $0["code"]?.text == "KC2020" })
        let place = taken["relatedInformation"]?.items.first?["location"]
        #expect(place?["uri"]?.text == Self.address)
        #expect(place?["range"]?["start"]?["line"]?.number == 2)
    }

    @Test(arguments: [
        ("policy: v1\nname: n\u{0}\n", "KC1012"), ("\u{0}\u{0}\u{0}", "KC1012"),
        ("policy: v1\nname: \"n", "KC1014"), ("{{{{{{{{{{{{{{{{{{{{", "KC1003"),
        (String(repeating: "#", count: 1 << 20) + "\n", "KC1002"),
        ("policy: v1\nname: \u{202E}n\n", "KC1013"),
    ])
    func `half a file, NULs and large ones are diagnostics`(_ text: String, _ code: String) throws {
        var editor = try Editor()
        let found = try editor.open(text, at: Self.address)[Self.address] ?? []
        #expect(found.contains { $0["code"]?.text == code })
        // Questions about such a file are answered all the same.
        for method in ["hover", "completion", "definition", "prepareRename"] {
            #expect(try editor.ask("textDocument/" + method, Self.address, "|")["error"] == nil)
        }
    }

    private static let dates = [
        "rules: [{id: a, forbid: no, operations: export, from: \"|\"}]\n",
        "rules: [{id: a, forbid: no, operations: export, until: \"|\"}]\n",
        "rules: [{id: a, forbid: no, operations: export, mode: complain, expires: \"|\"}]\n",
    ]
    private static let moment =
        "tests: [{name: t, request: {operation: sign, at: \"|T08:00\"}, expect: {decision: allow}}]\n"

    @Test(
        arguments: [
            "2026-1-2", "20261121", "21.11.2026", "11/21/2026", "2026-11-21T00:00Z", "2026-W47",
            "2026-325", "2026-02-30", "tomorrow", "12026-11-21", "-2026-11-21",
        ], dates + [moment])
    func `a date in another form is told where it stands`(
        _ date: String, _ line: String
    ) throws {
        try expectMistake(date, in: line)
    }

    @Test(arguments: ["1969-12-31", "1999-12-31", "3000-01-01", "9999-12-31"], dates + [moment])
    func `a year that no policy means is told where it stands`(
        _ date: String, _ line: String
    ) throws {
        try expectMistake(date, in: line)
    }

    private func expectMistake(_ date: String, in line: String) throws {
        var editor = try Editor()
        let text = Self.head + line.replacing("|", with: date)
        let found = try editor.open(text, at: Self.address)[Self.address] ?? []
        let quote = try #require(line.firstIndex(of: "|")).utf16Offset(in: line) - 1
        let start = found.first { $0["severity"]?.number == 1 }?["range"]?["start"]
        #expect(start?["line"]?.number == 2 && start?["character"]?.number == quote, "\(found)")
    }

    /// What lies beside an edited file comes from the disk, whatever it is.
    @Test(arguments: [
        ([0x70, 0xFF, 0xFE], 1, "KC1001"), ([0], 512, "KC1012"), ([0x23], 20_000_000, "KC1002"),
        (Array("policy: v1\nname: n\nrules:\n  - {id: a, for".utf8), 1, "KC1014"),
    ])
    func `a broken file beside the edited one is a diagnostic of its own`(
        _ bytes: [UInt8], _ times: Int, _ code: String
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let contents = times > 1 ? Data(repeating: bytes[0], count: times) : Data(bytes)
        try contents.write(to: folder.appending(path: "q.yaml"))
        var editor = try Editor()
        let found = try editor.open(
            Self.head, at: FileAddress.address(of: folder.appending(path: "p.yaml").path))
        let broken = FileAddress.address(of: folder.appending(path: "q.yaml").path)
        let first = try #require(found[broken]?.first)
        #expect(first["code"]?.text == code)
        #expect(first["range"]?["start"]?["line"]?.number != nil)
    }

    @Test func `so many files are held, and one more is told of`() throws {
        var editor = try Editor()
        for number in 0...OpenDocuments.most {
            let said = try editor.tell(
                "textDocument/didOpen",
                ["textDocument": ["uri": .text("untitled:\(number)"), "text": "policy: v1\n"]])
            #expect(said.isEmpty == (number < OpenDocuments.most))
        }
        _ = try editor.tell("textDocument/didClose", ["textDocument": ["uri": "untitled:0"]])
        #expect(
            try editor.tell(
                "textDocument/didOpen", ["textDocument": ["uri": "untitled:x", "text": ""]]
            ).isEmpty)
    }

    // MARK: Words

    @Test(arguments: [
        ("pol|", ["policy"]), ("policy: |", ["v1"]), ("rules:\n  - id: a\n    unl|", ["unless"]),
        ("rules:\n  - id: a\n    |\n  - id: b\n", ["permit", "forbid", "when"]),
        ("rules:\n- id: a\n  operations: [read-secret, |]\n", ["export", "use-key"]),
        ("rules:\n  - id: a\n    operations:\n      - |", ["export"]),
        ("rules:\n  - id: a\n    subject:\n      |", ["unit", "trusted-exe"]),
        ("rules:\n  - id: a\n    subject: {session: s|}", ["seat", "ssh"]),
        ("rules:\n  - id: a\n    subject:\n      session: |", ["seat", "ssh"]),
        ("rules:\n  - id: a\n    when: {remote: |", ["true", "false"]),
        ("rules:\n  - id: a\n    when:\n      session-age: {|", ["min", "max"]),
        ("rules:\n  - id: a\n    require: {any: [|", ["passcode", "login"]),
        ("rules:\n  - id: a\n    unless:\n      - subject: {|", ["unit"]),
        ("closed:\n  - id: a\n    resource: {class: |", ["generic-password"]),
        ("groups:\n  - id: a\n    members:\n      - {ex|", ["exe"]),
        ("define:\n  ops: {|", ["user"]), ("assert:\n  - id: a\n    never: {oper|", ["operations"]),
        ("tests:\n  - name: t\n    request: {subject: {session: |", ["seat", "unknown!"]),
        ("tests:\n  - name: t\n    expect: {decision: |", ["allow", "challenge"]),
        ("define:\n  ops: {user: a}\nrules:\n  - id: a\n    subject: {use: |", ["ops"]),
        ("rules:\n  - id: a.b\n    replaces: |", ["a.b"]),
        (
            "groups:\n  - id: a\n    group: mail\nclosed:\n  - id: b\n    resource: {access-group: |",
            ["mail"]
        ),
        ("closed:\n  - id: b\ntests:\n  - name: t\n    expect: {because: [|", ["b"]),
    ])
    func `what can stand at a place is offered`(_ marked: String, _ expected: [String]) throws {
        var editor = try Editor()
        let offered = try editor.completions(marked)
        for word in expected { #expect(offered.contains(word), "\(offered)") }
        #expect(Set(offered).count == offered.count)
    }

    @Test(arguments: [
        "rules:\n  - id: a\n    permit: some te|", "# com|", "rules:\n  - id: a\n    id|: x",
        "rules:\n  - id: a\n    subject: {exe: /usr/bin/|",
    ])
    func `where anything can stand nothing is offered`(_ marked: String) throws {
        var editor = try Editor()
        let offered = try editor.completions(marked)
        #expect(offered.allSatisfy { marked.contains("id|") && $0 != "id" }, "\(offered)")
    }

    @Test(arguments: [
        ("rules:\n  - id: a\n    sub|ject: {user: x}", "Who asks"),
        ("rules:\n  - id: a\n    subject: {trusted-|exe: true}", "root's alone"),
        ("rules:\n  - id: a\n    operations: [export, read-se|cret]", "with the secret"),
        ("tests:\n  - name: t\n    request: {when: {re|mote: true}}", "another machine"),
        ("define:\n  ops: {user: a}\nrules:\n  - id: a\n    subject: {use: o|ps}", "p.yaml:2"),
        ("rules:\n  - id: a\n    require: lo|gin", "opened the keychain"),
    ])
    func `words are explained`(_ marked: String, _ expected: String) throws {
        var editor = try Editor()
        _ = try editor.open(marked.replacing("|", with: ""), at: Self.address)
        let told = try editor.ask("textDocument/hover", Self.address, marked)["result"]
        #expect(
            told?["contents"]?["value"]?.text?.contains(expected) == true,
            "\(String(describing: told))")
    }

    /// Of a key whose description is missing an editor says nothing.
    @Test func `each key of the schema has a description`() {
        var missing: [String] = []
        func look(_ value: SchemaValue, _ part: String) {
            switch value {
            case .list(let items): for item in items { look(item, part) }
            case .object(let entries):
                for (name, inner) in entries {
                    guard name == "properties", case .object(let keys) = inner else {
                        look(inner, part)
                        continue
                    }
                    for (key, schema) in keys {
                        // One that may not stand there.
                        if case .flag = schema { continue }
                        if schema["description"] == nil { missing.append("\(part).\(key)") }
                        look(schema, key)
                    }
                }
            default: break
            }
        }
        look(PolicySchema.document, "file")
        #expect(missing == [])
    }

    // MARK: Names

    private static let names = """
        policy: v1
        name: n
        define: {ops: {user: ann}}
        groups:
          - id: n.members
            group: mail
            members: {user: ann}
        closed:
          - id: n.closed
            resource: {access-group: "mail"}
        rules:
          - id: n.permit
            permit: Operators read.
            subject: {use: ops}
            resource: {access-group: [mail, other]}
        tests:
          - name: t
            request: {operation: sign, resource: {access-group: mail}}
            expect: {decision: deny, because: [n.closed]}

        """
    private static let second = """
        policy: v1
        name: m
        closed:
          - id: m.closed
            resource: {access-group: mail}

        """
    private static let other = "file:///nowhere/q.yaml"

    private func marked(_ before: String) throws -> String {
        let end = try #require(Self.names.firstRange(of: before))
        return String(Self.names[..<end.upperBound]) + "|"
    }

    @Test(arguments: [
        ("{use: o", 2, 9), ("because: [n.c", 8, 8), ("class-none", -1, 0), ("[ma", 5, 11),
        ("permit: Oper", -1, 0),
    ])
    func `a name leads to where it is given`(_ before: String, _ line: Int, _ column: Int) throws {
        var editor = try Editor()
        _ = try editor.open(Self.names, at: Self.address)
        guard Self.names.contains(before) else { return }
        let found = try editor.ask("textDocument/definition", Self.address, marked(before))[
            "result"]
        #expect(found?["range"]?["start"]?["line"]?.number == (line < 0 ? nil : line))
        #expect(found?["range"]?["start"]?["character"]?.number == (line < 0 ? nil : column))
    }

    /// The text with the edits of a file.
    private func changed(_ text: String, _ edits: [JSONValue]) throws -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func column(_ edit: JSONValue, _ end: String) -> Int {
            edit["range"]?[end]?["character"]?.number ?? 0
        }
        for edit in edits.sorted(by: { column($0, "start") > column($1, "start") }) {
            let line = try #require(edit["range"]?["start"]?["line"]?.number)
            let units = Array(lines[line].utf16)
            lines[line] =
                String(decoding: units[..<column(edit, "start")], as: UTF16.self)
                + (edit["newText"]?.text ?? "")
                + String(decoding: units[column(edit, "end")...], as: UTF16.self)
        }
        return lines.joined(separator: "\n")
    }

    @Test(arguments: [
        ("group: ma", "post", "mail", true), ("{use: o", "admins", "ops", false),
        ("id: n.cl", "n.shut", "n.closed", false),
    ])
    func `a name is changed wherever it stands`(
        _ before: String, _ new: String, _ old: String, _ isInBoth: Bool
    ) throws {
        var editor = try Editor()
        _ = try editor.open(Self.second, at: Self.other)
        _ = try editor.open(Self.names, at: Self.address)
        let answer = try editor.ask(
            "textDocument/rename", Self.address, marked(before), [("newName", .text(new))])
        let changes = try #require(answer["result"]?["changes"])
        let text = try changed(Self.names, changes[Self.address]?.items ?? [])
        #expect(text == Self.names.replacing(old, with: new))
        #expect((changes[Self.other] != nil) == isInBoth)
        // What was in order before is in order afterwards.
        #expect(
            LoadedPolicies([[SourceFile(path: "p.yaml", bytes: Array(text.utf8))]], today: testDay)
                .hasErrors
                == LoadedPolicies(
                    [[SourceFile(path: "p.yaml", bytes: Array(Self.names.utf8))]], today: testDay
                ).hasErrors)
    }

    @Test(arguments: [
        ("id: n.cl", "two words"), ("id: n.cl", ""), ("id: n.cl", "n.permit"), ("group: ma", "a*"),
        ("permit: Oper", "x"), ("group: ma", "exe:/usr/bin/x"),
    ])
    func `what can't be a name is refused`(_ before: String, _ new: String) throws {
        var editor = try Editor()
        _ = try editor.open(Self.names, at: Self.address)
        let answer = try editor.ask(
            "textDocument/rename", Self.address, marked(before), [("newName", .text(new))])
        #expect(code(answer) == -32602)
    }

    @Test(arguments: ["/a b/ü%.yaml", "/x", "/a/#?&.yaml"])
    func `addresses and paths are two ways to write one thing`(_ path: String) {
        #expect(FileAddress.path(of: FileAddress.address(of: path)) == path)
    }

    @Test(arguments: [
        "http://x/y", "file://host/x", "file:///%", "file:///%4", "file:///%zz", "file:///%00",
        "file:///%FF",
    ])
    func `an address of no file has no path`(_ address: String) {
        #expect(FileAddress.path(of: address) == nil)
    }
}
