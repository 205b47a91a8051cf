// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import PolicyVocabulary

/// The keys and values that the JSON Schema allows at a place of a policy file.
struct SchemaPlace {
    private static let facts = ["subject", "resource", "when"]
    private static let unknown = "unknown!"

    private let options: [SchemaValue]
    /// Whether it is a fact of a request.
    private let isFact: Bool

    init(_ path: [Outline.Step]) {
        var options = Self.resolved(PolicySchema.document)
        for step in path { options = Self.step(step, options) }
        let keys = path.compactMap { if case .key(let key) = $0 { key } else { nil } }
        let block = keys.dropLast().last
        isFact =
            keys.first == "tests" && block.map(Self.facts.contains) ?? false
            && !keys.contains("expect")
        // A fact may have any value there; the words of rules are suggested all the same.
        if isFact, let block, let field = keys.last {
            let rule = PolicySchema.document["definitions"]?[block].map(Self.resolved) ?? []
            options += Self.step(.key(field), rule)
        }
        self.options = options
    }

    /// The keys of a mapping, with their descriptions.
    var keys: [(name: String, description: String?)] {
        var seen: Set<String> = []
        return options.flatMap { Self.members($0["properties"]) }.filter {
            seen.insert($0.0).inserted
        }
        .map { ($0.0, Self.text($0.1["description"])) }
    }

    func description(of key: String) -> String? { keys.first { $0.name == key }?.description }

    /// The values of a closed set.
    var words: [String] {
        var words: [String] = []
        for option in options {
            if case .list(let values)? = option["enum"] { words += values.compactMap(Self.text) }
            if let only = option["const"].flatMap(Self.text) { words.append(only) }
            if Self.text(option["type"]) == "boolean" { words += ["true", "false"] }
        }
        if isFact { words.append(Self.unknown) }
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }

    // MARK: The schema

    private static func step(_ step: Outline.Step, _ options: [SchemaValue]) -> [SchemaValue] {
        options.flatMap { option -> [SchemaValue] in
            let next =
                switch step {
                case .key(let key): option["properties"]?[key] ?? option["additionalProperties"]
                case .item: option["items"]
                }
            return next.map(resolved) ?? []
        }
    }

    /// The value, or the one that it refers to; for alternatives, each of them.
    private static func resolved(_ value: SchemaValue) -> [SchemaValue] {
        let prefix = "#/definitions/"
        if let name = text(value["$ref"]), name.hasPrefix(prefix),
            let target = PolicySchema.document["definitions"]?[String(name.dropFirst(prefix.count))]
        {
            return resolved(target)
        }
        guard case .list(let alternatives)? = value["anyOf"] else { return [value] }
        return alternatives.flatMap(resolved)
    }

    private static func members(_ value: SchemaValue?) -> [(String, SchemaValue)] {
        if case .object(let entries)? = value { entries } else { [] }
    }

    private static func text(_ value: SchemaValue?) -> String? {
        if case .text(let text)? = value { text } else { nil }
    }
}
