// SPDX-License-Identifier: Apache-2.0

/// A value of a policy file with its place. The field that expects a scalar decides its type; its
/// spelling does not.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        case scalar(String)
        case list([YAMLNode])
        case mapping([YAMLEntry])
    }

    package let content: Content
    package let place: SourcePlace

    package init(content: Content, place: SourcePlace) {
        self.content = content
        self.place = place
    }

    package var scalar: String? {
        if case .scalar(let text) = content { text } else { nil }
    }

    /// The kind of the value, in words.
    package var kind: String {
        switch content {
        case .scalar(let text): text.isEmpty ? "nothing" : "a word"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }

    package subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }
}

/// A key with its value.
package struct YAMLEntry: Sendable {
    package let key: String
    package let place: SourcePlace
    package let value: YAMLNode

    package init(key: String, place: SourcePlace, value: YAMLNode) {
        self.key = key
        self.place = place
        self.value = value
    }
}
