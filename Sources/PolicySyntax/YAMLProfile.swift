// SPDX-License-Identifier: Apache-2.0

/// The limits of a policy file: one UTF-8 document of bounded size and depth, without the parts of
/// YAML that surprise. They are checked on the tokens, before anything is built.
package enum YAMLProfile {
    package static let largestFile = 1 << 20
    package static let greatestDepth = 16
    /// The most scalars of a file: a file of the largest size with terse rules has fewer.
    package static let mostScalars = 200_000
    package static let mostKeys = 4_096

    /// An open mapping and the keys seen in it so far.
    private struct OpenMapping {
        /// The column of a block mapping; nil for flow collections.
        let column: Int?
        var isSequence = false
        var keys: Set<[UInt8]> = []
    }

    package static func check(_ source: SourceFile) throws(Diagnostic) {
        try checkBytes(source)
        try checkTokens(source)
    }

    // MARK: Bytes

    private static func checkBytes(_ source: SourceFile) throws(Diagnostic) {
        guard source.bytes.count <= largestFile else {
            throw Diagnostic(
                .fileTooLarge, path: source.path,
                "the file has more than 1 MiB; at most that is read",
                advice: "split it: every *.yaml file of the folder is read")
        }
        if let offset = firstInvalidByte(source.bytes) {
            throw Diagnostic(
                .notUTF8, in: source, at: source.place(ofByte: offset), "this is not UTF-8",
                advice: "save the file as UTF-8")
        }
        for (offset, byte) in source.bytes.enumerated() {
            if let found = forbidden(byte, at: offset, in: source) { throw found }
        }
    }

    private static func firstInvalidByte(_ bytes: [UInt8]) -> Int? {
        do {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }

    private static func forbidden(
        _ byte: UInt8, at offset: Int, in source: SourceFile
    ) -> Diagnostic? {
        let place = { source.place(ofByte: offset) }
        switch byte {
        case UInt8(ascii: "\t"):
            return Diagnostic(
                .tab, in: source, at: place(), "a tab", advice: "use spaces; \"\\t\" within a text")
        case UInt8(ascii: "\r") where source.bytes.dropFirst(offset + 1).first == 0x0A: return nil
        case UInt8(ascii: "\n"): return nil
        case 0..<0x20, 0x7F: return control(UInt32(byte), source, place())
        case 0xC2, 0xD8, 0xE2, 0xEF:
            let rest = source.bytes[offset...].prefix(byte < 0xE0 ? 2 : 3)
            guard let scalar = String(decoding: rest, as: UTF8.self).unicodeScalars.first else {
                return nil
            }
            return isForbidden(scalar) ? control(scalar.value, source, place()) : nil
        default: return nil
        }
    }

    package static func control(
        _ value: UInt32, _ source: SourceFile, _ place: SourcePlace
    ) -> Diagnostic {
        let name =
            "U+" + String(repeating: "0", count: max(0, 4 - hex(value).utf8.count))
            + hex(value)
        guard Unicode.Scalar(value).map(isBidirectional) == true else {
            return Diagnostic(
                .controlCharacter, in: source, at: place, "the control character \(name)",
                advice: "remove it")
        }
        return Diagnostic(
            .bidirectionalControl, in: source, at: place,
            "\(name) changes the direction of reading, so that the line is not what it seems",
            advice: "remove it")
    }

    private static func hex(_ value: UInt32) -> String {
        String(value, radix: 16, uppercase: true)
    }

    /// Line ends that only some readers know, byte order marks and similar characters, which no
    /// editor shows.
    package static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x0A, 0x0B..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFF9...0xFFFB: true
        default: isBidirectional(scalar)
        }
    }

    package static func isBidirectional(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    // MARK: Tokens

    private static func checkTokens(_ source: SourceFile) throws(Diagnostic) {
        var scanner = YAMLScanner(source.bytes)
        var mappings: [OpenMapping] = []
        var last: YAMLToken?
        var (scalars, documents, isBeforeContent) = (0, 0, true)
        while let token = scanner.next() {
            let place = { source.place(ofByte: token.range.lowerBound) }
            if let refused = refusal(of: token.kind, in: source, at: place) { throw refused }
            guard scanner.blocks.count + scanner.flowDepth <= greatestDepth else {
                throw Diagnostic(
                    .tooDeep, in: source, at: place(), "nested deeper than \(greatestDepth) levels")
            }
            switch token.kind {
            case .documentStart:
                documents += 1
                guard documents == 1, isBeforeContent else {
                    throw Diagnostic(
                        .manyDocuments, in: source, at: place(), length: 3, "a second document",
                        advice: "put it into a file of its own")
                }
                continue
            case .comment: continue
            case .plain, .quoted, .block: scalars += 1
            case .openMapping: mappings.append(OpenMapping(column: nil))
            case .openSequence: mappings.append(OpenMapping(column: nil, isSequence: true))
            case .item: close(&mappings, deeperThan: token.column)
            case .closeMapping, .closeSequence:
                while let top = mappings.popLast(), top.column != nil {}
            case .value:
                if let last, last.line == token.line || scanner.flowDepth > 0 {
                    try note(last, in: &mappings, scanner, source)
                }
            default: break
            }
            guard scalars <= mostScalars else {
                throw Diagnostic(
                    .tooManyValues, in: source, at: place(), "more than \(mostScalars) values",
                    advice: "split the file: every *.yaml file of the folder is read")
            }
            isBeforeContent = false
            last = token
        }
    }

    private static func refusal(
        of kind: YAMLToken.Kind, in source: SourceFile, at place: () -> SourcePlace
    ) -> Diagnostic? {
        switch kind {
        case .anchor:
            Diagnostic(
                .anchorOrAlias, in: source, at: place(), "an anchor",
                advice: "name a subject under \"define:\"; quote a text that begins with \"&\"")
        case .alias:
            Diagnostic(
                .anchorOrAlias, in: source, at: place(), "an alias",
                advice: "quote a pattern that begins with \"*\"; there are no aliases")
        case .tag:
            Diagnostic(
                .tag, in: source, at: place(), "a tag",
                advice: "quote a text that begins with \"!\"; there are no tags")
        case .directive:
            Diagnostic(.manyDocuments, in: source, at: place(), "a directive", advice: "remove it")
        case .complexKey:
            Diagnostic(
                .complexKey, in: source, at: place(), "a complex key", advice: "keys are words")
        default: nil
        }
    }

    /// Notes a key of the innermost mapping, and refuses a second one with the same name.
    private static func note(
        _ key: YAMLToken, in mappings: inout [OpenMapping], _ scanner: YAMLScanner,
        _ source: SourceFile
    ) throws(Diagnostic) {
        let place = source.place(ofByte: key.range.lowerBound)
        switch key.kind {
        case .plain, .quoted: break
        case .closeMapping, .closeSequence:
            throw Diagnostic(.complexKey, in: source, at: place, "a key that is no word")
        default: return
        }
        if scanner.flowDepth == 0 {
            close(&mappings, deeperThan: key.column)
            if mappings.last?.column != key.column {
                mappings.append(OpenMapping(column: key.column))
            }
        }
        guard let top = mappings.indices.last, !mappings[top].isSequence else { return }
        var name = Array(source.bytes[key.range])
        if name.elementsEqual("<<".utf8) {
            throw Diagnostic(
                .mergeKey, in: source, at: place, length: 2, "a merge key",
                advice: "name a subject under \"define:\"")
        }
        // A quoted key equals the plain one; keys made by escapes are compared later.
        if case .quoted = key.kind, name.count > 1 { name = Array(name[1..<name.count - 1]) }
        guard mappings[top].keys.insert(name).inserted else {
            throw duplicate(String(decoding: name, as: UTF8.self), source, place)
        }
        guard mappings[top].keys.count <= mostKeys else {
            throw Diagnostic(
                .tooManyValues, in: source, at: place, "more than \(mostKeys) keys in one mapping")
        }
    }

    private static func close(_ mappings: inout [OpenMapping], deeperThan column: Int) {
        while let last = mappings.last?.column, last > column { mappings.removeLast() }
    }

    package static func duplicate(
        _ key: String, _ source: SourceFile, _ place: SourcePlace
    ) -> Diagnostic {
        Diagnostic(
            .duplicateKey, in: source, at: place, length: source.length(at: place, plain: key),
            "the key \"\(key)\" stands twice in one mapping", advice: "remove one of them")
    }
}
