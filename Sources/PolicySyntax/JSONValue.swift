// SPDX-License-Identifier: Apache-2.0

/// A JSON value. Objects keep the order of their members.
package indirect enum JSONValue: Sendable, Equatable {
    case null
    case flag(Bool)
    /// The number as it is written.
    case number(String)
    case text(String)
    case list([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// A member of an object; nil for other values, and where it is missing or null.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self,
            let value = members.first(where: { $0.name == name })?.value, value != .null
        else { return nil }
        return value
    }

    package var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The items of a list; empty for other values.
    package var items: [JSONValue] { if case .list(let items) = self { items } else { [] } }

    /// A whole number that fits; nil for other values.
    package var number: Int? { if case .number(let text) = self { Int(text) } else { nil } }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member($0.0, $0.1) })
    }
    package init(arrayLiteral items: JSONValue...) { self = .list(items) }
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int) { self = .number("\(number)") }
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
}
