// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Finds items, and returns of them what the query asks for: one object, or an array where its limit
/// is not one.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    unsafe status(
        of: { () throws(Refusal) in
            try copyMatching(Selection(query, for: .copyMatching))
        }, into: result)
}

private func copyMatching(_ selection: Selection) throws(Refusal) -> CFTypeRef? {
    let endpoint = try KeychainEndpointChoice.current()
    let shape = ResultShape(parts: selection.query.parts)
    var objects: [CFTypeRef] = []
    var found = 0
    for keychain in selection.keychains {
        var query = selection.query
        query.keychain = keychain
        query.limit = selection.query.limit.map { $0 - found }
        let items = try items(query, endpoint)
        objects += items.compactMap { shape.object(for: $0, in: keychain) }
        found += items.count
        if let limit = selection.query.limit, found >= limit { break }
    }
    guard found > 0 else { throw .notFound }
    return selection.query.limit == 1 ? objects.first : NSArray(array: objects)
}

/// What one keychain has of them; none is no refusal, as another may have some.
private func items(
    _ query: ItemQuery, _ endpoint: any KeychainEndpoint
) throws(Refusal) -> [AnsweredItem] {
    do {
        return try endpoint.answer(.copyMatching(query)).items
    } catch {
        guard error == .notFound else { throw error }
        return []
    }
}
