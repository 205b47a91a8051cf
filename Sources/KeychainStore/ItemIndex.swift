// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Secrets

/// What the file's indexes hold of an item: the entries that it is found under, and the key that no
/// two items may share.
struct ItemIndex: Equatable {
    let tokens: Set<Int64>
    let keyIndex: [UInt8]

    init(_ record: AttributeRecord, _ itemClass: ItemClass, _ key: consuming SecretBytes) {
        let index = BlindIndex(key)
        let scope = BlindIndex.Scope(
            itemClass: itemClass, group: record.group,
            isSynchronizable: record.isSynchronizable)
        var tokens: Set<Int64> = []
        for term in itemClass.terms(of: record.attributes) {
            tokens.insert(index.token(term, scope))
        }
        self.tokens = tokens
        keyIndex = index.keyIndex(record, itemClass)
    }
}
