// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Deletes all items that the query finds, or none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status(
        of: { () throws(RequestError) in
            try delete(Selection(query, for: .delete))
            return nil
        }, into: nil)
}

private func delete(_ selection: Selection) throws(RequestError) {
    switch selection.target {
    case .items(let query): try delete(query, in: selection)
    case .identities(let pair):
        if selection.isPersistentReference || selection.reference != nil {
            try deleteNamed(pair, selection)
        } else {
            try delete(pair.certificates, in: selection)
            try deleteAny(pair.keys, selection)
        }
    }
}

private func delete(_ query: ItemQuery, in selection: Selection) throws(RequestError) {
    var query = query
    query.keychain = selection.keychains.first ?? nil
    _ = try KeychainEndpointChoice.current().send(Delete(query), in: selection.context)
}

private func deleteAny(_ query: ItemQuery, _ selection: Selection) throws(RequestError) {
    do { try delete(query, in: selection) } catch {
        guard error == .state(.notFound) else { throw error }
    }
}

/// Deletes a key with its certificate, unless another certificate needs the key.
private func deleteNamed(_ pair: IdentityQuery, _ selection: Selection) throws(RequestError) {
    let search = try Search(selection, returnFields: [])
    let labels = try Set(
        search.certificates(pair.certificates).compactMap { $0.attributes[.publicKeyHash] })
    try delete(pair.certificates, in: selection)
    for label in labels {
        var others = ItemQuery(.certificate)
        others.synchronizable = .any
        others.attributes = [.publicKeyHash: label]
        guard try search.certificates(others).isEmpty else { continue }
        var keys = pair.keys
        keys.attributes[.applicationLabel] = label
        keys.attributes[.isPrivate] = .number(1)
        try deleteAny(keys, selection)
    }
}
