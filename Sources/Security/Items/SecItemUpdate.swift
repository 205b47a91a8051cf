// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Changes all items that the query finds, or none.
@discardableResult
public func SecItemUpdate(
    _ query: CFDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus {
    status(
        of: { () throws(RequestError) in
            try update(Selection(query, for: .update), attributesToUpdate)
            return nil
        }, into: nil)
}

private func update(_ selection: Selection, _ changes: CFDictionary) throws(RequestError) {
    let change = try Change(changes, of: selection.queryClass)
    switch selection.target {
    case .items(let query): try update(query, change, in: selection)
    case .identities(let pair):
        // The reference names the certificate only, not the whole identity.
        guard !selection.isPersistentReference else { throw .failed(.internalError) }
        try update(pair.certificates, change, in: selection)
        try update(pair.keys, change, in: selection)
    }
}

private func update(
    _ query: ItemQuery, _ change: Change, in selection: Selection
) throws(RequestError) {
    var query = query
    query.keychain = selection.keychains.first ?? nil
    let verb = Update(query, change.change, secret: change.secret)
    _ = try KeychainEndpointChoice.current().send(verb, in: selection.context)
}
