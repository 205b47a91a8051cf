// SPDX-License-Identifier: Apache-2.0
public import AccessControl
internal import FoundationEssentials

/// A request as a line of JSON, in the shape of `request:` in tests.
public enum RequestLine {
    /// Longer lines are not read.
    public static let longest = 1 << 20

    /// Why a line is no request.
    public struct Mistake: Error, Sendable {
        public let message: String
    }

    /// `today` stands where the request has no `at`: local date in days since 1970-01-01.
    public static func read(
        _ line: some StringProtocol, today: Int32
    ) throws(Mistake) -> PolicyRequest {
        guard line.utf8.count <= longest else {
            throw Mistake(message: "the line is longer than \(longest) bytes")
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8)) else {
            throw Mistake(message: "this is not JSON")
        }
        let source = SourceFile(path: "request", bytes: [])
        var reader = FileReader(source, level: 0, today: today)
        let request = reader.request(value.node)
        if let first = reader.diagnostics.first(where: { $0.severity == .error }) {
            throw Mistake(message: first.message + (first.advice.map { ": \($0)" } ?? ""))
        }
        guard let request else { throw Mistake(message: "this is no request") }
        return request
    }
}

/// JSON as values of the language: numbers and booleans as they are written.
private enum JSONValue: Decodable {
    case text(String)
    case list([JSONValue])
    case mapping([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let mapping = try? container.decode([String: JSONValue].self) {
            self = .mapping(mapping)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else if let value = try? container.decode(Bool.self) {
            self = .text(value ? "true" : "false")
        } else {
            self = .text(String(try container.decode(Int64.self)))
        }
    }

    var node: YAMLNode {
        switch self {
        case .text(let text): YAMLNode(content: .scalar(text), place: .start)
        case .list(let items):
            YAMLNode(content: .list(items.map(\.node)), place: .start)
        case .mapping(let entries):
            YAMLNode(
                content: .mapping(
                    entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                        .map { YAMLEntry(key: $0.key, place: .start, value: $0.value.node) }),
                place: .start)
        }
    }
}
