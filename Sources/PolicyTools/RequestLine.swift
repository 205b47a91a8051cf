// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicySyntax

/// A request as a line of JSON, in the shape of `request:` in tests.
package enum RequestLine {
    /// Longer lines are not read.
    package static let longest = 1 << 20
    private static let bounds = JSONReader.Bounds(deepest: 16, mostValues: 1 << 19)

    /// Why a line can't be read as a request.
    package struct Mistake: Error, Sendable {
        package let message: String
    }

    /// `today` is used where the request has no `at`: the local date in days since 1970-01-01.
    package static func read(
        _ line: some StringProtocol, today: Int32
    ) throws(Mistake) -> PolicyRequest {
        guard line.utf8.count <= longest else {
            throw Mistake(message: "the line is longer than \(longest) bytes")
        }
        let value = try value(line)
        var reader = FileReader(
            SourceFile(path: "request", bytes: []), level: 0, today: today)
        let request = reader.request(value)
        if let first = reader.diagnostics.first(where: { $0.severity == .error }) {
            throw Mistake(message: first.message + (first.advice.map { ": \($0)" } ?? ""))
        }
        guard let request else { throw Mistake(message: "this is no request") }
        return request
    }

    /// A JSON value as a value of the language: numbers and booleans as they are written. `null`
    /// and numbers that are not whole are refused.
    static func value(_ text: some StringProtocol) throws(Mistake) -> YAMLNode {
        do throws(JSONReader.Mistake) {
            return try node(try JSONReader.read(Array(text.utf8), bounds))
        } catch {
            throw Mistake(message: error.message)
        }
    }

    private static func node(_ value: JSONValue) throws(JSONReader.Mistake) -> YAMLNode {
        let content: YAMLNode.Content
        switch value {
        case .null:
            throw JSONReader.Mistake(message: "null is no value: leave the key out")
        case .flag(let flag): content = .scalar("\(flag)")
        case .number(let text):
            guard text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw JSONReader.Mistake(message: "\(text) is no whole number")
            }
            content = .scalar(text)
        case .text(let text): content = .scalar(text)
        case .list(let items):
            var nodes: [YAMLNode] = []
            for item in items { nodes.append(try node(item)) }
            content = .list(nodes)
        case .object(let members):
            var entries: [YAMLEntry] = []
            for member in members {
                entries.append(
                    YAMLEntry(key: member.name, place: .start, value: try node(member.value)))
            }
            content = .mapping(entries)
        }
        return YAMLNode(content: content, place: .start)
    }
}
