// SPDX-License-Identifier: Apache-2.0
import PolicyLanguageServer
import PolicySyntax

/// What an editor sends to the language server of policies.
enum Editors {
    private static let day: Int32 = 20_778

    /// All that the server says is JSON. Means something where a request was answered.
    static func read(_ bytes: [UInt8]) throws -> Bool {
        var framer = MessageFramer()
        var server = PolicyLanguageServer { day }
        framer.add(bytes)
        var isAnswered = false
        while let piece = framer.next(), server.exitCode == nil {
            for said in server.answer(piece) where try value(said)["result"] != nil {
                isAnswered = true
            }
        }
        for said in server.diagnose() { _ = try value(said) }
        return isAnswered
    }

    private static func value(_ text: String) throws -> JSONValue {
        let bounds = JSONReader.Bounds(deepest: 128, mostValues: 1 << 20)
        guard let value = try? JSONReader.read(Array(text.utf8), bounds) else {
            throw Broken(description: "the server says what is no JSON: \(text)")
        }
        return value
    }

    static let seeds: [[UInt8]] = {
        let file = """
            policy: v1\\nname: n\\ndefine: {ops: {user: ann}}\\nrules:\\n  - id: n.a\\n    \
            require: {any: [passcode]}\\n    subject: {use: ops}\\n    resource: {access-group: m}\\n
            """
        let place = """
            "params": {"textDocument": {"uri": "untitled:p"}, "newName": "x", "position": \
            {"line": 6, "character": 20}}
            """
        let begin = [
            "{\"id\": 1, \"method\": \"initialize\", \"params\": {}}",
            """
            {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "untitled:p", \
            "text": "\(file)"}}}
            """,
        ]
        let asked = ["hover", "completion", "definition", "rename"].map {
            "{\"id\": \"2\", \"method\": \"textDocument/\($0)\", \(place)}"
        }
        let end = ["{\"id\": 3, \"method\": \"shutdown\"}", "{\"method\": \"exit\"}"]
        return asked.map { question in
            (begin + [question] + end).flatMap { text in
                Array("Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
            }
        }
    }()
}
