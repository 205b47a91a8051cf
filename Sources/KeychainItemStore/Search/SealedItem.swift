// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

/// One item with its attributes read and its secret still sealed. An object, as each step of a request
/// hands it on.
package final class SealedItem: Sendable {
    package let reference: ItemReference
    /// Rises with every change.
    package let generation: Int64
    let record: AttributeRecord
    /// Where the secret is; `.none` where the item has none.
    let secret: SealedSecret
    /// What the item was found by, so that a change made meanwhile is noticed.
    let matcher: ItemMatcher?
    /// Bytes of its sealed attributes, which are little more than what is in them; 0 for one that is
    /// in no file yet.
    package let attributeBytes: Int
    /// Memory that was counted for them, given back when the last copy of the item ends. What is made
    /// of the attributes and outlives the item keeps this too.
    package let room: (any AnyObject & Sendable)?

    init(
        reference: ItemReference, generation: Int64, record: AttributeRecord,
        secret: SealedSecret, matcher: ItemMatcher?, attributeBytes: Int = 0,
        room: (any AnyObject & Sendable)? = nil
    ) {
        self.reference = reference
        self.generation = generation
        self.record = record
        self.secret = secret
        self.matcher = matcher
        self.attributeBytes = attributeBytes
        self.room = room
    }

    /// What a long change keeps of an item that it means.
    package var meant: MeantItem { MeantItem(reference: reference, matcher: matcher) }

    /// Includes access group, synchronizable and dates; neither accessibility nor access control.
    package var attributes: Attributes { record.allAttributes }
    /// The same for a look at what the item is called: without group and dates, and so as they lie in
    /// memory, but for an item that is synchronizable.
    package var ownAttributes: Attributes {
        guard record.isSynchronizable || record.attributes[.synchronizable] != nil else {
            return record.attributes
        }
        var own = record.attributes
        own[.synchronizable] = record[.synchronizable]
        return own
    }
    package var accessControl: ItemAccessControl { record.accessControl }
    package var accessGroup: String { record.group }
    package var hasSecret: Bool { record.hasSecret }
    /// Programs that it lets in beside its group; nil where it has no list.
    package var trusted: TrustList? { record.trusted }

    /// The item as answers carry it.
    package var found: Item {
        Item(
            reference: reference, attributes: record.allAttributes,
            accessControl: record.accessControl.bound(to: []), trusted: record.trusted)
    }

    /// An item that is about to be added: named and complete, in no file yet.
    package static func new(
        _ item: NewItem, in group: String, _ accessControl: ItemAccessControl,
        trusting trusted: TrustList? = nil
    ) -> SealedItem {
        let identifier = RandomBytes.make(ItemReference.identifierBytes)
        guard let reference = ItemReference(itemClass: item.itemClass, identifier: identifier)
        else { preconditionFailure("an identifier has its length") }
        return SealedItem(
            reference: reference, generation: 1,
            record: AttributeRecord(new: item, in: group, accessControl, trusting: trusted),
            secret: .none, matcher: nil)
    }
}

/// An item that a search found, by its name and by what it was found by: little memory, whatever is
/// in it.
package struct MeantItem: Sendable {
    package let reference: ItemReference
    let matcher: ItemMatcher?
}

/// Where an item's sealed secret is.
enum SealedSecret: Sendable {
    case none
    /// Read together with the attributes.
    case here([UInt8])
    /// Large: read when it is opened.
    case inFile
}
