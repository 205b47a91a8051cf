// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax

/// Why an editor's request is not answered.
struct RequestMistake: Error {
    /// The codes of JSON-RPC and of LSP.
    enum Code: Int {
        case notJSON = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParameters = -32602
        case notInitialized = -32002
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// Answers an editor (Language Server Protocol 3.17) with the findings of `check` and `lint`, and
/// the meaning of keys and facts. It takes messages and returns messages; its caller reads and
/// writes them.
package struct PolicyLanguageServer {
    private static let bounds = JSONReader.Bounds(deepest: 64, mostValues: 100_000)

    private enum Phase { case begun, initialized, shutDown }

    private let today: () -> Int32
    private var phase = Phase.begun
    private var documents: OpenDocuments
    /// Folders that have changed since their last diagnosis.
    private var changed: Set<String> = []
    /// Files for which the editor shows findings.
    private var told: [String: Set<String>] = [:]
    /// The program's exit code, once it is to end.
    package private(set) var exitCode: Int32?

    /// `beneath` are folders of policies that come before those of an edited one. `today` is the
    /// local date in days since 1970-01-01.
    package init(beneath: [String] = [], today: @escaping () -> Int32) {
        documents = OpenDocuments(beneath: beneath)
        self.today = today
    }

    package var hasChanges: Bool { !changed.isEmpty }

    // MARK: Messages

    /// The answers to a message, each a JSON value.
    package mutating func answer(_ piece: MessageFramer.Piece) -> [String] {
        switch piece {
        case .message(let bytes): return answer(bytes).map(\.json)
        case .tooLong(let count):
            let most = MessageFramer.longestMessage
            return [
                Self.failure(
                    .null, .invalidRequest, "a message of \(count) bytes; at most \(most) are read")
            ].map(\.json)
        case .noHeader:
            exitCode = 1
            return [Self.failure(.null, .notJSON, "a header without one Content-Length")].map(
                \.json)
        }
    }

    private mutating func answer(_ bytes: [UInt8]) -> [JSONValue] {
        let message: JSONValue
        do throws(JSONReader.Mistake) {
            guard String(validating: bytes, as: UTF8.self) != nil else {
                throw JSONReader.Mistake(message: "the message is not UTF-8")
            }
            message = try JSONReader.read(bytes, Self.bounds)
        } catch {
            return [Self.failure(.null, .notJSON, error.message)]
        }
        guard case .object = message else {
            return [Self.failure(.null, .invalidRequest, "a message is an object")]
        }
        let id = message["id"]
        guard let method = message["method"]?.text else {
            // An answer to a request that was never sent.
            if message["result"] != nil || message["error"] != nil { return [] }
            return [Self.failure(id ?? .null, .invalidRequest, "a message without a method")]
        }
        guard let id else { return hear(method, message["params"]) }
        guard id.text != nil || id.number != nil else {
            return [Self.failure(.null, .invalidRequest, "an id is a text or a whole number")]
        }
        do throws(RequestMistake) {
            let result = try result(of: method, message["params"])
            return [["jsonrpc": "2.0", "id": id, "result": result]]
        } catch {
            return [Self.failure(id, error.code, error.message)]
        }
    }

    private static func failure(
        _ id: JSONValue, _ code: RequestMistake.Code, _ message: String
    ) -> JSONValue {
        [
            "jsonrpc": "2.0", "id": id,
            "error": ["code": .number("\(code.rawValue)"), "message": .text(message)],
        ]
    }

    private static func notification(_ method: String, _ parameters: JSONValue) -> JSONValue {
        ["jsonrpc": "2.0", "method": .text(method), "params": parameters]
    }

    // MARK: Requests

    private mutating func result(
        of method: String, _ parameters: JSONValue?
    ) throws(RequestMistake) -> JSONValue {
        switch (phase, method) {
        case (.begun, "initialize"):
            phase = .initialized
            return Self.capabilities
        case (.begun, _): throw RequestMistake(.notInitialized, "initialize comes first")
        case (.shutDown, _): throw RequestMistake(.invalidRequest, "the server is shut down")
        case (.initialized, "initialize"):
            throw RequestMistake(.invalidRequest, "initialize comes once")
        case (.initialized, "shutdown"):
            phase = .shutDown
            return .null
        case (.initialized, "textDocument/codeAction"): return fixes(parameters)
        default: break
        }
        let asked = DocumentAnswers(parameters, documents)
        switch method {
        case "textDocument/hover": return asked?.hover ?? .null
        case "textDocument/completion": return asked?.completion ?? []
        case "textDocument/definition": return asked?.definition ?? .null
        case "textDocument/prepareRename": return asked?.prepareRename ?? .null
        case "textDocument/rename":
            guard let asked, let name = parameters?["newName"]?.text else {
                throw RequestMistake(
                    .invalidParameters, "the file is not open, or a name is missing")
            }
            return try asked.rename(to: name)
        default: throw RequestMistake(.unknownMethod, "no method is called \(method)")
        }
    }

    private static let capabilities: JSONValue = [
        "capabilities": [
            "positionEncoding": "utf-16",
            "textDocumentSync": ["openClose": true, "change": 1],
            "hoverProvider": true,
            "completionProvider": ["triggerCharacters": [":", " ", "{", "[", ","]],
            "definitionProvider": true,
            "renameProvider": ["prepareProvider": true],
            "codeActionProvider": ["codeActionKinds": ["quickfix"]],
        ],
        "serverInfo": ["name": "keychainctl policy lsp"],
    ]

    /// One fix for each diagnostic at the place that names the word that was meant.
    private func fixes(_ parameters: JSONValue?) -> JSONValue {
        guard let address = parameters?["textDocument"]?["uri"], address.text != nil else {
            return []
        }
        let diagnostics = parameters?["context"]?["diagnostics"]?.items ?? []
        return .list(
            diagnostics.compactMap { diagnostic in
                guard let range = diagnostic["range"],
                    let word = diagnostic["data"]?["replacement"]?.text
                else { return nil }
                let edit: JSONValue = ["range": range, "newText": .text(word)]
                return [
                    "title": .text("Write “\(word)”"), "kind": "quickfix",
                    "diagnostics": [diagnostic], "isPreferred": true,
                    "edit": ["changes": .object([(address.text ?? "", .list([edit]))])],
                ]
            })
    }

    // MARK: Notifications

    private mutating func hear(_ method: String, _ parameters: JSONValue?) -> [JSONValue] {
        if method == "exit" {
            exitCode = phase == .shutDown ? 0 : 1
            return []
        }
        guard phase == .initialized, let document = parameters?["textDocument"],
            let address = document["uri"]?.text
        else { return [] }
        switch method {
        case "textDocument/didOpen": return put(document["text"], at: address)
        case "textDocument/didChange":
            return put(parameters?["contentChanges"]?.items.last?["text"], at: address)
        case "textDocument/didClose": documents.close(address)
        case "textDocument/didSave": break
        default: return []
        }
        changed.insert(OpenDocuments.folder(of: address))
        return []
    }

    private mutating func put(_ text: JSONValue?, at address: String) -> [JSONValue] {
        guard let text = text?.text else { return [] }
        changed.insert(OpenDocuments.folder(of: address))
        if documents.put(text, at: address) { return [] }
        return [
            Self.notification(
                "window/showMessage",
                [
                    "type": 2,
                    "message": .text(
                        "\(OpenDocuments.path(address)) is not looked at: at most "
                            + "\(OpenDocuments.most) files of \(OpenDocuments.mostBytes) bytes in "
                            + "all are held"),
                ])
        ]
    }

    /// The findings for the folders that changed. Files that had findings before are named again,
    /// so that the editor removes them.
    package mutating func diagnose() -> [String] {
        var said: [String] = []
        for folder in changed.sorted() {
            let found = FolderDiagnosis(folder, documents, today: today()).byFile
            let files = Set(found.keys).union(told[folder] ?? []).union(documents.open(in: folder))
            for file in files.sorted() {
                said.append(
                    Self.notification(
                        "textDocument/publishDiagnostics",
                        [
                            "uri": .text(documents.address(of: file)),
                            "diagnostics": .list(found[file] ?? []),
                        ]
                    ).json)
            }
            told[folder] = Set(found.keys)
        }
        changed = []
        return said
    }
}
