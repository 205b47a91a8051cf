// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// A JSON value whose keys keep their order.
package indirect enum SchemaValue: Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([SchemaValue])
    case object([(String, SchemaValue)])

    func written(indent: Int = 0) -> String {
        let inner = String(repeating: " ", count: indent + 2)
        let end = String(repeating: " ", count: indent)
        switch self {
        case .text(let text): return JSONText(text).description
        case .number(let number): return "\(number)"
        case .flag(let flag): return "\(flag)"
        case .list(let items) where items.allSatisfy(\.isSimple):
            return "[" + items.map { $0.written() }.joined(separator: ", ") + "]"
        case .list(let items):
            return "[\n"
                + items.map { inner + $0.written(indent: indent + 2) }
                .joined(separator: ",\n") + "\n\(end)]"
        case .object(let entries) where entries.count == 1 && entries[0].1.isSimple:
            return "{\(JSONText(entries[0].0)): \(entries[0].1.written())}"
        case .object(let entries):
            return "{\n"
                + entries.map { key, value in
                    "\(inner)\(JSONText(key)): \(value.written(indent: indent + 2))"
                }.joined(separator: ",\n") + "\n\(end)}"
        }
    }

    /// A member of an object; nil of other values.
    package subscript(_ key: String) -> SchemaValue? {
        guard case .object(let entries) = self else { return nil }
        return entries.first { $0.0 == key }?.1
    }

    private var isSimple: Bool {
        switch self {
        case .text, .number, .flag: true
        case .list, .object: false
        }
    }
}

extension SchemaValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(arrayLiteral elements: SchemaValue...) { self = .list(elements) }
    package init(dictionaryLiteral elements: (String, SchemaValue)...) { self = .object(elements) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(integerLiteral value: Int) { self = .number(value) }
}
