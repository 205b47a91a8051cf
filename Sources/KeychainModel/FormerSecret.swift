// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A secret that an item of the class `attributed` had before it was replaced.
package struct FormerSecret: Sendable {
    /// The most former secrets of an item; the oldest is dropped.
    package static let mostOfItem = 2
    package static let daysKept: Int64 = 30
    /// The most items whose former secrets one list has.
    package static let mostItemsListed = 1000

    package let item: ItemReference
    /// The generation of the item that had the secret.
    package let generation: Int64
    /// The item's label and the secret's content type at that time.
    package private(set) var label: String
    package let contentType: String
    /// When the secret was replaced: seconds since 2001.
    package let replaced: Double
    /// The program that replaced it.
    package let program: String
    /// nil in lists.
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

    /// For programs that may not read the item's label.
    package var withoutLabel: FormerSecret {
        var other = self
        other.label = ""
        return other
    }
}
