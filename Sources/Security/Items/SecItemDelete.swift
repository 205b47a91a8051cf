// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Deletes all items that the query finds, or none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status(
        of: { () throws(Refusal) in
            try delete(Selection(query, for: .delete))
            return nil
        }, into: nil)
}

private func delete(_ selection: Selection) throws(Refusal) {
    var query = selection.query
    query.keychain = selection.keychains.first ?? nil
    _ = try KeychainEndpointChoice.current().answer(.delete(query))
}
