// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicySyntax
internal import PolicyTools

/// The findings of `check` and `lint` for the policies of a folder, in the editor's format.
struct FolderDiagnosis {
    /// For larger sets only the findings of `check --no-tests` are given, since an editor waits for
    /// the answer.
    static let mostAnalysed = 2_000

    private let diagnostics: [Diagnostic]
    private let positions: [String: TextPositions]
    private let documents: OpenDocuments

    init(_ folder: String, _ documents: OpenDocuments, today: Int32) {
        let (layers, found) = documents.layers(in: folder)
        let loaded = LoadedPolicies(layers, today: today)
        var all = loaded.diagnostics + found
        let count = loaded.policy.rules.count + loaded.policy.closed.count
        if !loaded.hasErrors, count <= Self.mostAnalysed {
            all += PolicyTestRun(loaded).diagnostics
            all += PolicyProofs(loaded, today: today).diagnostics
            all += PolicyLint(loaded, today: today).diagnostics
        }
        diagnostics = Array(Set(all)).sorted()
        positions = Dictionary(
            layers.flatMap { $0 }.map { ($0.path, TextPositions(source: $0)) },
            uniquingKeysWith: { $1 })
        self.documents = documents
    }

    /// Grouped by file; files without findings are left out.
    var byFile: [String: [JSONValue]] {
        Dictionary(grouping: diagnostics, by: \.file).mapValues { $0.map(value) }
    }

    private func value(_ diagnostic: Diagnostic) -> JSONValue {
        let isWarning = diagnostic.severity == .warning
        let advice = diagnostic.advice.map { "\n" + $0 } ?? ""
        let notes = diagnostic.notes.map { "\n" + $0 }.joined()
        let related = diagnostic.notes.compactMap(related)
        return .object([
            ("range", range(of: diagnostic)),
            ("severity", isWarning ? 2 : 1),
            ("code", .text(diagnostic.code.name)),
            ("source", "keychainctl"),
            ("message", .text(diagnostic.message + advice + notes)),
            ("relatedInformation", related.isEmpty ? nil : .list(related)),
            ("data", Self.replacement(in: diagnostic.advice).map { ["replacement": .text($0)] }),
        ])
    }

    private func range(of diagnostic: Diagnostic) -> JSONValue {
        positions[diagnostic.file]?.range(diagnostic.place, length: diagnostic.length)
            ?? TextPositions(source: SourceFile(path: "", bytes: [])).range(.start, length: 1)
    }

    /// A note that names a line of a file, as `by site/50-ssh.yaml:4`.
    private func related(_ note: String) -> JSONValue? {
        for (path, positions) in positions {
            guard let line = Self.line(in: note, of: path) else { continue }
            let place = SourcePlace(line: line, column: 1)
            let length = positions.source.line(line)?.unicodeScalars.count ?? 1
            return [
                "location": [
                    "uri": .text(documents.address(of: path)),
                    "range": positions.range(place, length: length),
                ],
                "message": .text(note),
            ]
        }
        return nil
    }

    private static func line(in note: String, of path: String) -> Int? {
        let bytes = Array(note.utf8)
        let mark = Array(path.utf8) + [UInt8(ascii: ":")]
        guard bytes.count > mark.count else { return nil }
        for start in 0..<(bytes.count - mark.count)
        where bytes[start..<start + mark.count].elementsEqual(mark) {
            let digits = bytes[(start + mark.count)...].prefix { (0x30...0x39).contains($0) }
            return Int(String(decoding: digits, as: UTF8.self))
        }
        return nil
    }

    /// The word of `did you mean "exe"?`
    static func replacement(in advice: String?) -> String? {
        let (before, after) = ("did you mean \"", "\"?")
        guard let advice, advice.hasPrefix(before), advice.hasSuffix(after) else { return nil }
        let word = advice.dropFirst(before.count).dropLast(after.count)
        return word.isEmpty || word.contains("\"") ? nil : String(word)
    }
}
