// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// Adds the item that the dictionary describes; what it asks to have returned comes back in
/// `result`.
@discardableResult
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    unsafe status(
        of: { () throws(Refusal) in try add(Addition(attributes)) }, into: result)
}

private func add(_ addition: Addition) throws(Refusal) -> CFTypeRef? {
    let answer = try KeychainEndpointChoice.current().answer(
        .add(addition.item, secret: addition.secret, returning: addition.parts))
    guard let added = answer.items.first else { throw .internalError }
    let object = ResultShape(parts: addition.parts).object(for: added, in: nil)
    // The data of an item that was added without any is empty, where reading it finds none.
    return addition.parts == .data ? object ?? NSData() : object
}
