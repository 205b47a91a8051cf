// SPDX-License-Identifier: Apache-2.0
import PolicySyntax
import Testing

@testable import PolicyLanguageServer

/// Bytes that no editor sends.
@Suite struct AnyBytesTests {
    /// The same numbers each time.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    private static let file = """
        policy: v1
        name: n
        define: {ops: {user: "ann 😀"}}
        groups:
        - id: n.members
          group: mail
          members: [{unit: x.service}]
        rules:
          - id: n.a
            require: {any: [passcode, {pam: keychain-otp, within: 1m}]}
            unless:
              - subject: {use: ops}
            when: {session-age: {max: 1h}, time: {between: "08:00-18:00"}}
        tests:
          - name: t
            request: {operation: sign, resource: {access-group: mail}}
            expect: {decision: challenge, because: [n.a]}

        """

    private static func frame(_ value: JSONValue) -> [UInt8] {
        let text = Editor.written(value)
        return Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
    }

    /// A whole conversation.
    private static let stream: [UInt8] = {
        let document: JSONValue = ["uri": "file:///nowhere/p.yaml", "text": .text(file)]
        let place: JSONValue = [
            "textDocument": ["uri": "file:///nowhere/p.yaml"],
            "position": ["line": 5, "character": 12], "newName": "post",
        ]
        var messages: [JSONValue] = [
            ["id": 1, "method": "initialize", "params": [:]],
            ["method": "textDocument/didOpen", "params": ["textDocument": document]],
        ]
        for method in ["hover", "completion", "definition", "prepareRename", "rename"] {
            messages.append(["id": 2, "method": .text("textDocument/" + method), "params": place])
        }
        messages.append(["id": 3, "method": "shutdown"])
        return messages.flatMap(frame)
    }()

    /// What the server says to a stream: JSON each.
    @discardableResult
    private func converse(_ bytes: [UInt8]) throws -> Int {
        var framer = MessageFramer()
        var server = PolicyLanguageServer { testDay }
        framer.add(bytes)
        var count = 0
        while let piece = framer.next(), server.exitCode == nil {
            for said in server.answer(piece) {
                _ = try Editor.read(said)
                count += 1
            }
        }
        for said in server.diagnose() {
            _ = try Editor.read(said)
            count += 1
        }
        return count
    }

    @Test func `a conversation is answered`() throws {
        #expect(try converse(Self.stream) == 8)
    }

    @Test func `a stream that ends anywhere ends nothing else`() throws {
        for end in stride(from: 0, to: Self.stream.count, by: 17) {
            try converse(Array(Self.stream[..<end]))
        }
    }

    @Test func `changed and random bytes are answered or passed over`() throws {
        var numbers = Numbers()
        for _ in 0..<400 {
            var bytes = Self.stream
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                switch Int.random(in: 0...2, using: &numbers) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
                case 1: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
                }
            }
            try converse(bytes)
        }
        for _ in 0..<100 {
            let count = Int.random(in: 0...4096, using: &numbers)
            try converse((0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) })
        }
    }

    /// As it is while it is written, and with anything in it.
    @Test func `of each half of a file each question is answered`() throws {
        var numbers = Numbers()
        var editor = try Editor()
        let scalars = Array(Self.file.unicodeScalars)
        for end in stride(from: 0, through: scalars.count, by: 3) {
            var text = String.UnicodeScalarView(scalars[..<end])
            if end % 2 == 0 {
                let strange = ["{", "[", "\"", "\u{0}", "- ", "&a", "😀", "\r", "\t", ": "]
                text += (strange.randomElement(using: &numbers) ?? "").unicodeScalars
            }
            let written = String(text)
            _ = try editor.open(written, at: "untitled:p")
            for method in ["hover", "completion", "definition", "prepareRename"] {
                let answer = try editor.ask("textDocument/" + method, "untitled:p", written)
                #expect(answer["error"] == nil)
            }
        }
    }

    @Test(arguments: [
        "{\"line\": -1, \"character\": 0}", "{\"line\": 0, \"character\": -1}", "{}", "null", "[]",
        "{\"line\": 9223372036854775807, \"character\": 9223372036854775807}",
        "{\"line\": 1e9, \"character\": 0}", "{\"line\": 999999, \"character\": 999999}",
    ])
    func `a place beyond the file is none`(_ position: String) throws {
        var editor = try Editor()
        _ = try editor.open(Self.file, at: "untitled:p")
        for method in ["hover", "completion", "definition", "prepareRename"] {
            let answers = try editor.send(
                "{\"id\": 7, \"method\": \"textDocument/\(method)\", \"params\": {\"textDocument\": "
                    + "{\"uri\": \"untitled:p\"}, \"position\": \(position)}}")
            #expect(answers.count == 1 && answers.first?["error"] == nil)
        }
    }
}
