// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainModel

/// Finds items, and returns the parts that the query asks for: one object, or an array if its limit
/// is not one.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    // Safe: `status` writes at most once, to the caller's own variable for the answer.
    unsafe status(
        of: { () throws(RequestError) in
            try copyMatching(Selection(query, for: .copyMatching))
        }, into: result)
}

private func copyMatching(_ selection: Selection) throws(RequestError) -> CFTypeRef? {
    let shape = ResultShape(returnFields: selection.returnFields, isOfSearch: true)
    let endpoint = try KeychainEndpointChoice.current()
    let search = Search(selection, returnFields: shape.returnFields, at: endpoint)
    let results = try search.results()
    guard let first = results.first else { throw .state(.notFound) }
    return selection.limit == 1 ? shape.object(for: first) : results.compactMap(shape.object).object
}
