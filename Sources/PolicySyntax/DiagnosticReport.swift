// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Diagnostics in formats for programs.
package struct DiagnosticReport: Sendable {
    package let diagnostics: [Diagnostic]

    package init(_ diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    package var errorCount: Int { diagnostics.count { $0.severity == .error } }
    package var warningCount: Int { diagnostics.count { $0.severity == .warning } }

    /// `{"diagnostics": […], "errors": n, "warnings": n}`
    package var json: String {
        Self.encode(
            Summary(
                diagnostics: diagnostics.map(Item.init), errors: errorCount,
                warnings: warningCount))
    }

    /// SARIF 2.1.0.
    package var sarif: String {
        let codes = Set(diagnostics.map(\.code)).sorted { $0.rawValue < $1.rawValue }
        let driver = Driver(rules: codes.map { Driver.Rule(id: $0.name) })
        return Self.encode(
            Log(runs: [Log.Run(tool: .init(driver: driver), results: diagnostics.map(Result.init))])
        )
    }

    private static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        // Encoding can't fail, as there are only texts, numbers and lists.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

private struct Summary: Encodable {
    let diagnostics: [Item]
    let errors: Int
    let warnings: Int
}

private struct Item: Encodable {
    let code: String
    let severity: String
    let file: String
    let line: Int
    let column: Int
    let length: Int
    let message: String
    let advice: String?
    let notes: [String]

    init(_ diagnostic: Diagnostic) {
        code = diagnostic.code.name
        severity = diagnostic.severity.rawValue
        file = diagnostic.file
        line = diagnostic.place.line
        column = diagnostic.place.column
        length = diagnostic.length
        message = diagnostic.message
        advice = diagnostic.advice
        notes = diagnostic.notes
    }
}

private struct Driver: Encodable {
    struct Rule: Encodable { let id: String }
    let name = "keychainctl"
    let rules: [Rule]
    private enum CodingKeys: CodingKey { case name, rules }
}

private struct Log: Encodable {
    struct Tool: Encodable { let driver: Driver }
    struct Run: Encodable {
        let tool: Tool
        let columnKind = "unicodeCodePoints"
        let results: [Result]
        private enum CodingKeys: CodingKey { case tool, columnKind, results }
    }

    let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    let version = "2.1.0"
    let runs: [Run]
    private enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version, runs
    }
}

private struct Result: Encodable {
    struct Message: Encodable { let text: String }
    struct Artifact: Encodable { let uri: String }
    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
        let endColumn: Int
    }
    struct Physical: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }
    struct Location: Encodable { let physicalLocation: Physical }

    let ruleId: String
    let level: String
    let message: Message
    let locations: [Location]

    init(_ diagnostic: Diagnostic) {
        ruleId = diagnostic.code.name
        level = diagnostic.severity.rawValue
        let more = [diagnostic.advice].compactMap(\.self) + diagnostic.notes
        message = Message(text: ([diagnostic.message] + more).joined(separator: "\n"))
        let place = diagnostic.place
        locations = [
            Location(
                physicalLocation: Physical(
                    artifactLocation: Artifact(uri: diagnostic.file),
                    region: Region(
                        startLine: place.line, startColumn: place.column,
                        endColumn: place.column + diagnostic.length)))
        ]
    }
}
