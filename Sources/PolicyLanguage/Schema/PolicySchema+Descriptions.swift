// SPDX-License-Identifier: Apache-2.0
internal import PolicyVocabulary

extension SchemaValue {
    /// The same value with a description at each key that the vocabulary has; `part` is the name of
    /// the part of a file that the value describes.
    func described(as part: String) -> SchemaValue {
        switch self {
        case .text, .number, .flag: return self
        case .list(let items): return .list(items.map { $0.described(as: part) })
        case .object(let entries):
            return .object(
                entries.map { name, value in
                    switch name {
                    case "properties": (name, value.describedProperties(of: part))
                    case "definitions": (name, value.describedDefinitions)
                    default: (name, value.described(as: part))
                    }
                })
        }
    }

    private func describedProperties(of part: String) -> SchemaValue {
        guard case .object(let keys) = self else { return self }
        return .object(
            keys.map { key, value in
                let inner = value.described(as: key)
                guard let text = PolicyVocabulary.key(key, in: part),
                    case .object(let entries) = inner
                else { return (key, inner) }
                return (key, .object(entries + [("description", .text(text))]))
            })
    }

    private var describedDefinitions: SchemaValue {
        guard case .object(let parts) = self else { return self }
        return .object(parts.map { ($0, $1.described(as: $0)) })
    }
}
