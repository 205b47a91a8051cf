// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import Secrets

/// The secret or the item itself that lies in a dictionary (`kSecValue…`).
struct ValueWords {
    private let data: NSData?
    let persistentReference: PersistentReference?
    let item: SecKeychainItem?

    init(_ words: [QueryWords.ValueKey: QueryValue]) throws(Refusal) {
        switch words[.data] {
        case nil: data = nil
        case .data(let data)?: self.data = data
        default: throw .badRequest
        }
        switch words[.persistentReference] {
        case nil: persistentReference = nil
        case .data(let data)?: persistentReference = try PersistentReference(data)
        default: throw .badRequest
        }
        switch words[.reference] {
        case nil: item = nil
        case .item(let item)?: self.item = item
        default: throw .badRequest
        }
    }

    func secret() throws(Refusal) -> HeldSecret? {
        guard let data else { return nil }
        guard data.length <= Request.largestSecret else { throw .dataTooLarge }
        return HeldSecret(data.copiedSecret)
    }
}
