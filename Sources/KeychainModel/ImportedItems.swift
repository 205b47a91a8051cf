// SPDX-License-Identifier: Apache-2.0

/// Items that another service kept and whose programs are not known (docs/design/attributed-items.md).
package enum ImportedItems {
    /// No program belongs to it.
    package static let group = "imported"

    /// Types that many programs give their items.
    private static let shared: Set<AttributeValue> = [
        .string("org.freedesktop.Secret.Generic"), .string("org.gnome.keyring.NetworkPassword"),
        .string("org.gnome.keyring.Note"),
    ]
    /// Pairs by which programs that have a type in common tell their items apart.
    private static let telling: [AttributeName] = [
        .pair("application"), .pair("server"), .pair("service"),
    ]

    /// What one answer of the user's may cover: items of one type that differ in nothing that tells
    /// programs apart. nil for an item that is asked about alone.
    package static func kind(of item: Attributes) -> Attributes? {
        guard let schema = item[.schema], !schema.isEmptyCompared, !shared.contains(schema) else {
            return nil
        }
        return item.filter { $0.key == .schema || telling.contains($0.key) }
    }

    /// Whether an item has that kind, and pairs of the same names as `other`.
    package static func isOfKind(_ kind: Attributes, _ item: Attributes, like other: Attributes)
        -> Bool
    {
        self.kind(of: item) == kind && item.pairs.keys.elementsEqual(other.pairs.keys)
    }
}
