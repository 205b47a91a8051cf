// SPDX-License-Identifier: Apache-2.0

/// A value of a policy file with its place. What a scalar means is for the field to say that
/// expects it; its look says nothing.
package struct YAMLNode: Sendable {
    enum Content: Sendable {
        case scalar(String)
        case list([YAMLNode])
        case mapping([YAMLEntry])
    }

    let content: Content
    let place: SourcePlace

    var scalar: String? {
        if case .scalar(let text) = content { text } else { nil }
    }

    /// What the value is, in words.
    var kind: String {
        switch content {
        case .scalar(let text): text.isEmpty ? "nothing" : "a word"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }

    subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }
}

/// A key with its value.
struct YAMLEntry: Sendable {
    let key: String
    let place: SourcePlace
    let value: YAMLNode
}
