// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// Decides whether an opened item is one that a query means. The index only proposes. An object, as
/// each item that is found carries it.
final class ItemMatcher: Sendable {
    let query: ItemQuery
    let scope: SearchScope
    /// The query's texts where they are compared folded: once for all items.
    private let folded: [AttributeName: FoldedText]

    init(query: ItemQuery, scope: SearchScope) {
        self.query = query
        self.scope = scope
        folded =
            query.folding.isEmpty
            ? [:]
            : query.attributes.compactMapValues { value in
                if case .string(let text) = value { FoldedText(text, query.folding) } else { nil }
            }
    }

    func matches(_ record: AttributeRecord, _ reference: ItemReference) -> Bool {
        guard reference.itemClass == query.itemClass,
            scope.contains(record), matchesSynchronizable(record)
        else { return false }
        if let accessible = query.accessible, accessible != record.accessControl.protection {
            return false
        }
        if let references = query.references, !references.contains(reference) { return false }
        return matchesHost(record) && matchesAttributes(record)
    }

    /// Whether a value may be looked up by its bytes. Folded texts may differ in theirs.
    func isExact(_ value: AttributeValue) -> Bool {
        if case .string = value { return query.folding.isEmpty }
        return true
    }

    private func matchesSynchronizable(_ record: AttributeRecord) -> Bool {
        switch query.synchronizable {
        case .no: !record.isSynchronizable
        case .yes: record.isSynchronizable
        case .any: true
        }
    }

    private func matchesAttributes(_ record: AttributeRecord) -> Bool {
        query.attributes.allSatisfy { name, wanted in
            guard let stored = record[name], let rule = query.itemClass.attributeRules[name]
            else { return false }
            if let wanted = folded[name], case .string(let stored) = stored {
                return FoldedText(stored, query.folding) == wanted
            }
            return rule.matches(stored, wanted)
        }
    }

    /// The item's server is the host, or lies below it.
    private func matchesHost(_ record: AttributeRecord) -> Bool {
        guard let host = query.hostOrSubdomain else { return true }
        guard case .string(let server)? = record.attributes[.server] else { return false }
        let wanted = Array(host.utf8)
        let stored = Array(server.utf8)
        return stored == wanted || stored.reversed().starts(with: ([0x2E] + wanted).reversed())
    }
}
