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
            try deleteItems(Selection(query, for: .delete), at: KeychainEndpointChoice.current())
            return nil
        }, into: nil)
}

func deleteItems(
    _ selection: Selection, at endpoint: any KeychainEndpoint
) throws(RequestError) {
    let deletion = Deletion(selection: selection, endpoint: endpoint)
    switch selection.target {
    case .items(let query): try deletion.delete(query)
    case .identities(let pair):
        if selection.isPersistentReference || selection.reference != nil {
            try deletion.deleteNamed(pair)
        } else {
            try deletion.delete(pair.certificates)
            try deletion.deleteAny(pair.keys)
        }
    }
}

private struct Deletion {
    let selection: Selection
    let endpoint: any KeychainEndpoint
    let context: CallContext?

    init(selection: Selection, endpoint: any KeychainEndpoint) {
        self.selection = selection
        self.endpoint = endpoint
        context = selection.contextOfCall
    }

    func delete(_ query: ItemQuery) throws(RequestError) {
        var query = query
        query.keychain = selection.keychains.first ?? nil
        _ = try endpoint.send(Delete(query), in: context)
    }

    func deleteAny(_ query: ItemQuery) throws(RequestError) {
        do throws(RequestError) { try delete(query) } catch {
            guard error == .state(.notFound) else { throw error }
        }
    }

    /// Deletes a key with its certificate, unless another certificate needs the key.
    func deleteNamed(_ pair: IdentityQuery) throws(RequestError) {
        let search = Search(selection, returnFields: [], in: context, at: endpoint)
        let labels = try labels(of: pair, search)
        try delete(pair.certificates)
        for label in labels where try !isNeeded(label, search) {
            var keys = pair.keys
            keys.attributes[.applicationLabel] = label
            keys.attributes[.isPrivate] = .number(1)
            try deleteAny(keys)
        }
    }

    /// The labels of the keys. An object knows its own; a persistent reference names only the
    /// certificate, which is read.
    private func labels(
        of pair: IdentityQuery, _ search: Search
    ) throws(RequestError) -> Set<AttributeValue> {
        if let label = pair.keys.attributes[.applicationLabel] { return [label] }
        return try Set(
            search.certificates(pair.certificates).compactMap { $0.attributes[.publicKeyHash] })
    }

    /// Whether a certificate is left that needs the key. Nothing is asked: a certificate that can't
    /// be read without a question is there all the same.
    private func isNeeded(
        _ label: AttributeValue, _ search: Search
    ) throws(RequestError) -> Bool {
        var others = ItemQuery(.certificate)
        others.synchronizable = .any
        others.attributes = [.publicKeyHash: label]
        others.authenticationUI = .fail
        do throws(RequestError) { return try !search.certificates(others).isEmpty } catch {
            guard
                error == .refused(.interactionNotAllowed)
                    || error == .refused(.authenticationFailed)
            else { throw error }
            return true
        }
    }
}
