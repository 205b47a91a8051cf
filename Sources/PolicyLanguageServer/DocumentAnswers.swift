// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicySyntax
internal import PolicyVocabulary

/// Answers an editor's questions about a place in a file.
struct DocumentAnswers {
    private let documents: OpenDocuments
    private let address: String
    private let positions: TextPositions
    private let offset: Int
    private var source: SourceFile { positions.source }

    /// nil for a file that is not open, or a place that does not exist.
    init?(_ parameters: JSONValue?, _ documents: OpenDocuments) {
        guard let address = parameters?["textDocument"]?["uri"]?.text,
            let source = documents.source(address), source.bytes.count <= YAMLProfile.largestFile
        else { return nil }
        positions = TextPositions(source: source)
        guard let offset = positions.offset(parameters?["position"]) else { return nil }
        self.documents = documents
        self.address = address
        self.offset = offset
    }

    private var word: Outline.Word? { Outline(source.bytes).word(at: offset) }

    // MARK: Hover

    var hover: JSONValue? {
        guard let word, let text = description(of: word) else { return nil }
        return [
            "contents": ["kind": "markdown", "value": .text(text)],
            "range": positions.range(word.range),
        ]
    }

    private func description(of word: Outline.Word) -> String? {
        if word.role == .key, let text = SchemaPlace(word.path).description(of: word.text) {
            return "**\(word.text)**: \(text)"
        }
        if let symbol = Outline.symbol(word), let place = declaration(of: symbol.symbol) {
            let line = place.source.place(ofByte: place.place.word.range.lowerBound).line
            let file = place.source.path.split(separator: "/").last.map(String.init) ?? ""
            return "**\(word.text)**: \(symbol.symbol.kind.words), \(file):\(line)"
        }
        guard word.role == .value, let key = Outline.lastKey(word.path) else { return nil }
        return PolicyVocabulary.word(word.text, of: key).map { "**\(word.text)**: \($0)" }
    }

    // MARK: Completion

    var completion: JSONValue {
        guard let place = Outline.place(at: offset, in: source.bytes) else { return [] }
        let schema = SchemaPlace(place.path)
        var items: [JSONValue] = []
        if place.mayBeKey {
            let new = schema.keys.filter { !place.keys.contains($0.name) }
            items += new.map { item($0.name, property, $0.description, place, behind: ": ") }
        }
        if place.mayBeValue {
            let key = Outline.lastKey(place.path) ?? ""
            items += schema.words.map {
                item($0, value, PolicyVocabulary.word($0, of: key), place)
            }
            if let kind = Outline.kind(namedBy: key) {
                items += documents.names(kind, for: address).map {
                    item($0, reference, kind.words, place)
                }
            }
        }
        return .list(items)
    }

    /// Numbers of CompletionItemKind.
    private var property: Int { 10 }
    private var value: Int { 12 }
    private var reference: Int { 18 }

    private func item(
        _ label: String, _ kind: Int, _ description: String?, _ place: Outline.Place,
        behind: String = ""
    ) -> JSONValue {
        .object([
            ("label", .text(label)), ("kind", .number("\(kind)")),
            ("documentation", description.map { ["kind": "markdown", "value": .text($0)] }),
            (
                "textEdit",
                ["range": positions.range(place.range), "newText": .text(label + behind)]
            ),
        ])
    }

    // MARK: Symbols

    var definition: JSONValue? {
        guard let word, let symbol = Outline.symbol(word)?.symbol else { return nil }
        return declaration(of: symbol).map { location($0.source, $0.place.word) }
    }

    /// The declaration in the folder, or else in one beneath it.
    private func declaration(
        of symbol: Symbol
    ) -> (source: SourceFile, place: SymbolPlace)? {
        if let own = documents.places(of: symbol, from: address).first(where: {
            $0.place.isDeclaration
        }) {
            return own
        }
        guard symbol.kind != .definition else { return nil }
        let layers = documents.layers(in: OpenDocuments.folder(of: address)).layers
        return OpenDocuments.places(in: layers.flatMap { $0 }) { $0 == symbol }
            .first(where: \.place.isDeclaration)
    }

    private func location(_ source: SourceFile, _ word: Outline.Word) -> JSONValue {
        [
            "uri": .text(documents.address(of: source.path)),
            "range": TextPositions(source: source).range(word.range),
        ]
    }

    var prepareRename: JSONValue? {
        guard let word, let place = Outline.symbol(word) else { return nil }
        return ["range": positions.range(word.range), "placeholder": .text(place.symbol.name)]
    }

    func rename(to name: String) throws(RequestMistake) -> JSONValue {
        guard let word, let symbol = Outline.symbol(word)?.symbol else {
            throw RequestMistake(.invalidParameters, "this is no name that a policy gives")
        }
        guard Symbol.mayBeCalled(name, symbol.kind) else {
            throw RequestMistake(.invalidParameters, "“\(name)” is no \(symbol.kind.words)")
        }
        let places = documents.places(of: symbol, from: address)
        guard places.contains(where: \.place.isDeclaration) || symbol.kind == .group else {
            throw RequestMistake(
                .invalidParameters, "“\(symbol.name)” is not declared in this folder")
        }
        let taken = documents.places(of: Symbol(kind: symbol.kind, name: name), from: address)
        guard !taken.contains(where: \.place.isDeclaration) || name == symbol.name else {
            throw RequestMistake(.invalidParameters, "the name “\(name)” is taken")
        }
        let edits = Dictionary(grouping: places) { $0.source.path }.sorted { $0.key < $1.key }
        return [
            "changes": .object(
                edits.map { path, places in
                    (
                        documents.address(of: path),
                        .list(places.map { edit($0.source, $0.place.word, name) })
                    )
                })
        ]
    }

    private func edit(_ source: SourceFile, _ word: Outline.Word, _ name: String) -> JSONValue {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0)
                || "._-".unicodeScalars.contains($0)
        }
        return [
            "range": TextPositions(source: source).range(word.range),
            "newText": .text(isPlain && !word.isQuoted ? name : JSONText(name).description),
        ]
    }
}

extension Symbol.Kind {
    /// The text for people.
    var words: String {
        switch self {
        case .definition: "definition"
        case .group: "access group"
        case .id: "id"
        }
    }
}
