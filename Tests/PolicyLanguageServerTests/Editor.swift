// SPDX-License-Identifier: Apache-2.0
import PolicyLanguageServer
import PolicySyntax
import Testing

/// A day on which the tests take place: 2026-11-21, a Saturday.
let testDay: Int32 = 20_778

/// An editor that speaks to a server, without a process between them.
struct Editor {
    var server = PolicyLanguageServer { testDay }
    private var last = 0

    init(initialized: Bool = true) throws {
        if initialized { _ = try ask("initialize", ["capabilities": [:]]) }
    }

    static func read(_ text: String) throws -> JSONValue {
        try JSONReader.read(Array(text.utf8), .init(deepest: 64, mostValues: 1_000_000))
    }

    mutating func send(_ text: String) throws -> [JSONValue] {
        try server.answer(.message(Array(text.utf8))).map(Self.read)
    }

    /// The whole answer.
    mutating func answer(_ method: String, _ parameters: JSONValue) throws -> JSONValue {
        last += 1
        let request: JSONValue = [
            "jsonrpc": "2.0", "id": .number("\(last)"), "method": .text(method),
            "params": parameters,
        ]
        let answers = try send(Self.written(request))
        #expect(answers.count == 1)
        let answer = try #require(answers.first)
        #expect(answer["id"]?.number == last)
        return answer
    }

    mutating func ask(_ method: String, _ parameters: JSONValue) throws -> JSONValue? {
        try answer(method, parameters)["result"]
    }

    mutating func tell(_ method: String, _ parameters: JSONValue) throws -> [JSONValue] {
        try send(
            Self.written(["jsonrpc": "2.0", "method": .text(method), "params": parameters]))
    }

    /// Opens a file; what comes back are the diagnostics of each file of its folder.
    mutating func open(_ text: String, at address: String) throws -> [String: [JSONValue]] {
        #expect(
            try tell(
                "textDocument/didOpen",
                ["textDocument": ["uri": .text(address), "text": .text(text)]]
            ).isEmpty)
        return try diagnoses()
    }

    mutating func diagnoses() throws -> [String: [JSONValue]] {
        var found: [String: [JSONValue]] = [:]
        for said in server.diagnose() {
            let parameters = try #require(try Self.read(said)["params"])
            found[try #require(parameters["uri"]?.text)] = parameters["diagnostics"]?.items
        }
        return found
    }

    /// A question about the place in the text that stands before `|`.
    mutating func ask(
        _ method: String, _ address: String, _ marked: String, _ more: [(String, JSONValue)] = []
    ) throws -> JSONValue {
        let before = try #require(
            marked.split(separator: "|", omittingEmptySubsequences: false).first)
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        let members: [(String, JSONValue)] =
            [
                ("textDocument", ["uri": .text(address)]),
                (
                    "position",
                    [
                        "line": .number("\(lines.count - 1)"),
                        "character": .number("\(lines.last?.utf16.count ?? 0)"),
                    ]
                ),
            ] + more
        return try answer(method, .object(members.map { JSONValue.Member($0.0, $0.1) }))
    }

    /// Labels of what can be written at `|`.
    mutating func completions(_ marked: String) throws -> [String] {
        let address = "file:///nowhere/p.yaml"
        _ = try open(marked.replacing("|", with: ""), at: address)
        let answer = try ask("textDocument/completion", address, marked)
        return (answer["result"]?.items ?? []).compactMap { $0["label"]?.text }
    }

    /// Reading is the product's; writing is plain enough to be done twice.
    static func written(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .number(let text): text
        case .text(let text):
            "\""
                + text.unicodeScalars.map {
                    $0.value < 0x20 || $0 == "\"" || $0 == "\\" ? escaped($0) : String($0)
                }.joined() + "\""
        case .list(let items): "[" + items.map(written).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\"\($0.name)\": \(written($0.value))" }.joined(separator: ", ")
                + "}"
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
