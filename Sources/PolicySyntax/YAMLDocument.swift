// SPDX-License-Identifier: Apache-2.0
internal import Yams

/// Reads a file of the profile.
package enum YAMLDocument {
    /// nil where the file says nothing.
    package static func read(_ source: SourceFile) throws(Diagnostic) -> YAMLNode? {
        try YAMLProfile.check(source)
        let text = String(decoding: source.bytes, as: UTF8.self)
        do {
            // Without resolver rules nothing is typed by its look.
            let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            // The parser keeps the names of anchors, which nodes only refer to.
            return try withExtendedLifetime(parser) {
                try parser.singleRoot().map { try Reading(source).value($0, depth: 1) }
            }
        } catch let found as Diagnostic {
            throw found
        } catch let error as YamlError {
            throw diagnostic(error, source)
        } catch {
            throw Diagnostic(.syntax, path: source.path, "the file can't be read as YAML")
        }
    }

    private static func diagnostic(_ error: YamlError, _ source: SourceFile) -> Diagnostic {
        switch error {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            // A parser may complain of the line behind the last one.
            let place =
                source.line(mark.line) == nil
                ? source.place(ofByte: source.bytes.count)
                : SourcePlace(line: mark.line, column: mark.column)
            if problem.contains("another document") {
                return Diagnostic(
                    .manyDocuments, in: source, at: place, "a second document",
                    advice: "put it into a file of its own")
            }
            let begun = context.flatMap { source.line($0.mark.line) == nil ? nil : $0 }
            let notes = begun.map { ["\($0.text) that begins at \($0.mark)"] } ?? []
            return Diagnostic(
                .syntax, in: source, at: place, "this is not YAML: \(problem)",
                advice: advice(on: problem), notes: notes)
        case .duplicatedKeysInMapping(let names, let context):
            let place = SourcePlace(line: context.mark.line, column: context.mark.column)
            return YAMLProfile.duplicate(names.first ?? "", source, place)
        default:
            return Diagnostic(.syntax, path: source.path, "the file can't be read as YAML")
        }
    }

    /// What is mostly the matter when the parser says so.
    private static func advice(on problem: String) -> String? {
        if problem.contains("mapping values are not allowed") {
            return "indent keys that belong together alike; quote a text that has \": \" in it"
        }
        if problem.contains("did not find expected '-'") || problem.contains("expected key") {
            return "indent what belongs together alike"
        }
        return nil
    }

    /// Makes values of the parser's nodes.
    private struct Reading {
        let source: SourceFile

        init(_ source: SourceFile) { self.source = source }

        func value(_ node: Node, depth: Int) throws(Diagnostic) -> YAMLNode {
            let place = self.place(node)
            if node.anchor != nil {
                throw Diagnostic(.anchorOrAlias, in: source, at: place, "an anchor")
            }
            guard depth <= YAMLProfile.greatestDepth || node.scalar != nil else {
                throw Diagnostic(
                    .tooDeep, in: source, at: place,
                    "nested deeper than \(YAMLProfile.greatestDepth) levels")
            }
            switch node {
            case .scalar(let scalar):
                return YAMLNode(content: .scalar(try text(scalar, place)), place: place)
            case .sequence(let sequence):
                let items = try sequence.map { node throws(Diagnostic) in
                    try value(node, depth: depth + 1)
                }
                return YAMLNode(content: .list(items), place: place)
            case .mapping(let mapping):
                let entries = try mapping.map { pair throws(Diagnostic) in
                    try entry(pair.key, pair.value, depth: depth)
                }
                return YAMLNode(content: .mapping(entries), place: place)
            case .alias:
                throw Diagnostic(.anchorOrAlias, in: source, at: place, "an alias")
            }
        }

        private func entry(
            _ key: Node, _ value: Node, depth: Int
        ) throws(Diagnostic) -> YAMLEntry {
            let place = self.place(key)
            guard case .scalar(let scalar) = key else {
                throw Diagnostic(
                    .complexKey, in: source, at: place, "a key that is no word",
                    advice: "keys are words")
            }
            return YAMLEntry(
                key: try text(scalar, place), place: place,
                value: try self.value(value, depth: depth + 1))
        }

        /// What escapes write is held to the same rules as what is written.
        private func text(
            _ scalar: Node.Scalar, _ place: SourcePlace
        ) throws(Diagnostic) -> String {
            let found = scalar.string.unicodeScalars.first {
                YAMLProfile.isForbidden($0) && $0 != "\t"
            }
            if let found { throw YAMLProfile.control(found.value, source, place) }
            return scalar.string
        }

        private func place(_ node: Node) -> SourcePlace {
            node.mark.map { SourcePlace(line: $0.line, column: $0.column) } ?? .start
        }
    }
}
