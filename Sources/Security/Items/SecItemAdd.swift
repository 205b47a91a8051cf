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
        try add(certificate: certificate, key: key, in: addition.context)
        guard !addition.returnFields.isEmpty else { return nil }
        var query: [String: Any] = [
            QueryParameters.ValueKey.reference.rawValue: identity,
            AttributeName.synchronizable.rawValue: key.item.isSynchronizable,
        ]
        if let name = addition.keychain.flatMap(KeychainName.init) {
            query[QueryParameters.UseKey.keychain.rawValue] = SecKeychain(name)
        }
        let selection = try Selection(query as CFDictionary, for: .copyMatching)
        let found = try Search(selection, returnFields: addition.returnFields).results()
        return found.first.flatMap(shape.object)
    }
}

private func add(
    _ part: Addition.Part, _ returnFields: ReturnFields, in context: CallContext?
) throws(RequestError) -> Item {
    let returnFields = returnFields.needed(of: part.item.itemClass)
    return try KeychainEndpointChoice.current().send(
        Add(part.item, secret: part.secret, returning: returnFields), in: context)
}

/// Throws `.duplicate` only where both items exist already.
private func add(
    certificate: Addition.Part, key: Addition.Part, in context: CallContext?
) throws(RequestError) {
    let hasCertificate = try isDuplicate(certificate, in: context)
    let hasKey = try isDuplicate(key, in: context)
    if hasCertificate, hasKey { throw .state(.duplicate) }
}

private func isDuplicate(
    _ part: Addition.Part, in context: CallContext?
) throws(RequestError) -> Bool {
    do {
        _ = try add(part, [], in: context)
        return false
    } catch {
        guard error == .state(.duplicate) else { throw error }
        return true
    }
}
