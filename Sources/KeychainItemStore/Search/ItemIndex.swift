// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// What the file's indexes hold of an item: the entries that it is found under, and the key that no
/// two items may share.
struct ItemIndex: Equatable {
    let tokens: Set<Int64>
    let keyIndex: [UInt8]

    init(tokens: Set<Int64>, keyIndex: [UInt8]) {
        self.tokens = tokens
        self.keyIndex = keyIndex
    }

    init(_ record: AttributeRecord, _ itemClass: ItemClass, _ key: RawSpan) {
        let terms = itemClass.terms(of: record.attributes)
        var tokens: Set = [BlindIndex.entry(itemClass, record.accessControl.protection)]
        for place in record.places {
            let scope = BlindIndex.Scope(
                itemClass: itemClass, place: place, isSynchronizable: record.isSynchronizable)
            for term in terms { tokens.insert(BlindIndex.token(term, scope, key)) }
        }
        self.tokens = tokens
        keyIndex = BlindIndex.keyIndex(record, itemClass, key)
    }
}

/// An item's entries as its row keeps them, the smallest first, eight bytes each: with them the row
/// says where it is to be taken out of the index, whether it opens or not.
enum TokenList {
    static func bytes(_ tokens: Set<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tokens.count * 8)
        for token in tokens.sorted() { bytes.append(littleEndian: UInt64(bitPattern: token)) }
        return bytes
    }

    /// What is behind the last whole one, in a file that others have written, is none.
    static func tokens(_ bytes: [UInt8]) -> Set<Int64> {
        var reader = ByteReader(bytes)
        var tokens: Set<Int64> = []
        while let number = try? reader.number(UInt64.self) {
            tokens.insert(Int64(bitPattern: number))
        }
        return tokens
    }
}
