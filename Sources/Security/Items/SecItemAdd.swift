// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Adds the item that the dictionary describes; the parts that it asks for are returned in
/// `result`.
@discardableResult
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    // Safe: `status` writes at most once, to the caller's own variable for the answer.
    unsafe status(
        of: { () throws(RequestError) in try addItem(Addition(attributes)) }, into: result)
}

/// The object that the call returns.
func addItem(_ addition: Addition) throws(RequestError) -> CFTypeRef? {
    let shape = ResultShape(returnFields: addition.returnFields, isOfSearch: false)
    switch addition.target {
    case .item(let part):
        let object = shape.object(
            for: .item(
                try add(part, addition.returnFields, in: addition.context),
                keychain: addition.keychain))
        // For an item that was added without data the call returns empty data, where a search would
        // find none.
        return addition.returnFields == .data ? object ?? NSData() : object
    case .identity(let identity, let certificate, let key):
        return try add(identity, certificate, key, addition).flatMap(shape.object)
    }
}

private func add(
    _ part: Addition.Part, _ returnFields: ReturnFields, in context: CallContext?
) throws(RequestError) -> Item {
    let returnFields = returnFields.needed(of: part.item.itemClass)
    let endpoint = try KeychainEndpointChoice.current()
    do throws(RequestError) {
        return try endpoint.send(
            Add(part.item, secret: part.secret, returning: returnFields), in: context)
    } catch {
        // A call that names no keychain knows one store, which is not there.
        let isMissing = error == .state(.noSuchKeychain) && part.item.keychain == nil
        throw isMissing ? .failed(.notAvailable) : error
    }
}

/// Adds the halves of an identity that are not there yet, and returns both for the call's answer;
/// nil where none is wanted, or a half from before can't be read without a question. Throws
/// `.duplicate` only where both were there.
private func add(
    _ identity: SecIdentity, _ certificate: Addition.Part, _ key: Addition.Part,
    _ addition: Addition
) throws(RequestError) -> SearchResult? {
    let (returnFields, context) = (addition.returnFields, addition.context)
    // The data of an identity is its key's.
    let ofCertificate = returnFields.subtracting(.data)
    var addedCertificate = try addIfNew(certificate, ofCertificate, in: context)
    var addedKey = try addIfNew(key, returnFields, in: context)
    if addedCertificate == nil, addedKey == nil { throw .state(.duplicate) }
    guard !returnFields.isEmpty else { return nil }
    if addedCertificate == nil {
        addedCertificate = try existing(certificate, of: identity, ofCertificate, in: context)
    }
    if addedKey == nil { addedKey = try existing(key, of: identity, returnFields, in: context) }
    guard let addedCertificate, let addedKey else { return nil }
    return .identity(certificate: addedCertificate, key: addedKey)
}

/// Returns nil where the item exists already.
private func addIfNew(
    _ part: Addition.Part, _ returnFields: ReturnFields, in context: CallContext?
) throws(RequestError) -> Item? {
    do throws(RequestError) { return try add(part, returnFields, in: context) } catch {
        guard error == .state(.duplicate) else { throw error }
        return nil
    }
}

/// The half of the identity that was there before; nil where it can't be read without a question.
private func existing(
    _ part: Addition.Part, of identity: SecIdentity, _ returnFields: ReturnFields,
    in context: CallContext?
) throws(RequestError) -> Item? {
    let itemClass = part.item.itemClass
    var query = ItemQuery(itemClass)
    query.attributes = ValueReference.identity(identity).attributes(for: itemClass)
    query.keychain = part.item.keychain
    query.accessGroup = part.item.accessGroup
    query.synchronizable = part.item.isSynchronizable ? .yes : .no
    query.authenticationUI = .skip
    query.returnFields = returnFields.needed(of: itemClass)
    let endpoint = try KeychainEndpointChoice.current()
    do throws(RequestError) {
        return try endpoint.send(CopyMatching(query), in: context).first
    } catch {
        guard error == .state(.notFound) else { throw error }
        return nil
    }
}
