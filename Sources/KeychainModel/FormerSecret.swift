// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A secret that an item of the class `attributed` had before another one took its place.
package struct FormerSecret: Sendable {
    /// Kept of an item; the oldest gives way.
    package static let mostOfItem = 2
    package static let daysKept: Int64 = 30
    /// Items whose former secrets one list has.
    package static let mostItemsListed = 1000

    package let item: ItemReference
    /// Of the item's generations the one that had it.
    package let generation: Int64
    /// The item's label and the secret's content type of then.
    package private(set) var label: String
    package let contentType: String
    /// When another secret took its place: seconds since 2001.
    package let replaced: Double
    /// The program that replaced it.
    package let program: String
    /// nil in a list.
    package let secret: HeldSecret?

    package init(
        item: ItemReference, generation: Int64, label: String, contentType: String,
        replaced: Double, program: String, secret: HeldSecret?
    ) {
        self.item = item
        self.generation = generation
        self.label = label
        self.contentType = contentType
        self.replaced = replaced
        self.program = program
        self.secret = secret
    }

    /// For programs that may not read what the item is called.
    package var withoutLabel: FormerSecret {
        var other = self
        other.label = ""
        return other
    }
}
