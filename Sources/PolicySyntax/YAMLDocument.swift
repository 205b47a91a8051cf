// SPDX-License-Identifier: Apache-2.0
internal import LibYAML

/// Reads a YAML file of the profile.
package enum YAMLDocument {
    /// nil where the file has no value.
    package static func read(_ source: SourceFile) throws(Diagnostic) -> YAMLNode? {
        try YAMLProfile.check(source)
        return try Reading(source).document()
    }

    private static func diagnostic(_ fault: YAMLFault, _ source: SourceFile) -> Diagnostic {
        guard let problem = fault.problem else {
            return Diagnostic(.syntax, path: source.path, "the file can't be read as YAML")
        }
        // A parser may report the line after the last one.
        let place =
            source.line(fault.line) == nil
            ? source.place(ofByte: source.bytes.count)
            : SourcePlace(line: fault.line, column: fault.column)
        let begun = fault.context.flatMap { source.line($0.line) == nil ? nil : $0 }
        let notes = begun.map { ["\($0.text) that begins at \($0.line):\($0.column)"] } ?? []
        return Diagnostic(
            .syntax, in: source, at: place, "this is not YAML: \(problem)",
            advice: advice(on: problem), notes: notes)
    }

    /// Advice on the usual cause of the parser's message.
    private static func advice(on problem: String) -> String? {
        if problem.contains("mapping values are not allowed") {
            return "indent keys that belong together alike; quote a text that has \": \" in it"
        }
        if problem.contains("did not find expected '-'") || problem.contains("expected key") {
            return "indent what belongs together alike"
        }
        return nil
    }

    /// Makes values from the parser's events.
    private struct Reading {
        let source: SourceFile
        let events: YAMLEvents

        init(_ source: SourceFile) throws(Diagnostic) {
            self.source = source
            do throws(YAMLFault) {
                events = try YAMLEvents(source.bytes)
            } catch { throw diagnostic(error, source) }
        }

        func document() throws(Diagnostic) -> YAMLNode? {
            _ = try next()
            guard try next().kind == .documentStart else { return nil }
            let root = try value(next(), depth: 1)
            _ = try next()
            let behind = try next()
            guard behind.kind == .streamEnd else {
                throw Diagnostic(
                    .manyDocuments, in: source, at: place(behind), "a second document",
                    advice: "put it into a file of its own")
            }
            return root
        }

        private func next() throws(Diagnostic) -> YAMLEvent {
            do throws(YAMLFault) {
                return try events.next()
            } catch { throw diagnostic(error, source) }
        }

        private func value(_ event: YAMLEvent, depth: Int) throws(Diagnostic) -> YAMLNode {
            let place = self.place(event)
            if event.hasAnchor {
                throw Diagnostic(.anchorOrAlias, in: source, at: place, "an anchor")
            }
            if case .scalar(let text) = event.kind {
                return YAMLNode(content: .scalar(try checked(text, place)), place: place)
            }
            guard depth <= YAMLProfile.greatestDepth else {
                throw Diagnostic(
                    .tooDeep, in: source, at: place,
                    "nested deeper than \(YAMLProfile.greatestDepth) levels")
            }
            switch event.kind {
            case .sequenceStart:
                return YAMLNode(content: .list(try items(depth: depth)), place: place)
            case .mappingStart:
                return YAMLNode(content: .mapping(try entries(depth: depth)), place: place)
            default:
                throw Diagnostic(.anchorOrAlias, in: source, at: place, "an alias")
            }
        }

        private func items(depth: Int) throws(Diagnostic) -> [YAMLNode] {
            var items: [YAMLNode] = []
            var event = try next()
            while event.kind != .sequenceEnd {
                items.append(try value(event, depth: depth + 1))
                event = try next()
            }
            return items
        }

        private func entries(depth: Int) throws(Diagnostic) -> [YAMLEntry] {
            var entries: [YAMLEntry] = []
            var keys: Set<String> = []
            var event = try next()
            while event.kind != .mappingEnd {
                let place = self.place(event)
                guard case .scalar(let text) = event.kind, !event.hasAnchor else {
                    throw Diagnostic(
                        .complexKey, in: source, at: place, "a key that is no word",
                        advice: "keys are words")
                }
                let key = try checked(text, place)
                // The same key quoted in another way, which the check of the tokens could not see.
                guard keys.insert(key).inserted else {
                    throw YAMLProfile.duplicate(key, source, place)
                }
                let value = try self.value(next(), depth: depth + 1)
                entries.append(YAMLEntry(key: key, place: place, value: value))
                event = try next()
            }
            return entries
        }

        /// Text made by escapes must obey the same rules as plain text.
        private func checked(
            _ text: String, _ place: SourcePlace
        ) throws(Diagnostic) -> String {
            let found = text.unicodeScalars.first {
                YAMLProfile.isForbidden($0) && $0 != "\t"
            }
            if let found { throw YAMLProfile.control(found.value, source, place) }
            return text
        }

        private func place(_ event: YAMLEvent) -> SourcePlace {
            SourcePlace(line: event.line, column: event.column)
        }
    }
}
