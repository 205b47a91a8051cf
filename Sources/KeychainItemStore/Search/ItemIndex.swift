// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// What the file's indexes hold of an item: the entries that it is found under, and the key that no
/// two items may share.
struct ItemIndex: Equatable {
    let tokens: Set<Int64>
    let keyIndex: [UInt8]

    init(_ record: AttributeRecord, _ itemClass: ItemClass, _ key: consuming SecretBytes) {
        let index = BlindIndex(key)
        let terms = itemClass.terms(of: record.attributes)
        var tokens: Set<Int64> = []
        for place in record.places {
            let scope = BlindIndex.Scope(
                itemClass: itemClass, place: place, isSynchronizable: record.isSynchronizable)
            for term in terms { tokens.insert(index.token(term, scope)) }
        }
        self.tokens = tokens
        keyIndex = index.keyIndex(record, itemClass)
    }
}
