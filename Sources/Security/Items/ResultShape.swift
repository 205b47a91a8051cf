// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The form of an answer for the program (docs/secitem.md, Result shape).
struct ResultShape {
    let returnFields: ReturnFields
    /// A search returns two attributes more than an addition.
    let isOfSearch: Bool

    /// The object for one item: the single part that was asked for, or a dictionary of several. nil
    /// where no part was asked for, or the item has no secret.
    func object(for result: SearchResult) -> CFTypeRef? {
        switch returnFields {
        case []: nil
        case .data: Self.data(of: result)
        case .reference: result.reference
        case .persistentReference: result.persistentReference.bytes.object
        default: dictionary(of: result)
        }
    }

    private static func data(of result: SearchResult) -> NSData? {
        result.secret.map { NSData.released($0.bytes) }
    }

    private func dictionary(of result: SearchResult) -> CFDictionary {
        let attributes = result.attributes
        var objects = ResultObjects(capacity: attributes.count + 9)
        for (name, value) in attributes where name != .uuid && name != .digest {
            objects.add(name, value.object)
        }
        objects.add(.digest, result.digest)
        if isOfSearch {
            if attributes[.tombstone] == nil { objects.add(.tombstone, NSNumber(value: 0)) }
            if attributes[.multiUser] == nil { objects.add(.multiUser, NSData()) }
        }
        let rights = result.accessControl
        objects.add(.accessControl, SecAccessControl(stored: rights))
        if let trusted = result.trusted { objects.add(.access, SecAccess(stored: trusted)) }
        objects.add(.accessible, rights.protection.code as NSString)
        if returnFields.contains(.data) { objects.add(.data, Self.data(of: result)) }
        if returnFields.contains(.persistentReference) {
            objects.add(.persistentReference, result.persistentReference.bytes.object)
        }
        if returnFields.contains(.reference) {
            objects.add(.reference, result.reference)
            objects.add(QueryParameters.classKey, result.queryClass.code as NSString)
        }
        return objects.dictionary
    }
}
