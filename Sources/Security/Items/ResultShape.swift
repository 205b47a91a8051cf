// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import Secrets

/// What an answer looks like to the program that asked (spec: Result shape).
struct ResultShape {
    let parts: ItemQuery.Parts

    /// One item: the one thing that was wanted of it, or a dictionary of several. nil where nothing
    /// was wanted, or the item has no secret.
    func object(for result: SearchResult) -> CFTypeRef? {
        switch parts {
        case []: nil
        case .data: Self.data(of: result)
        case .reference: result.reference
        case .persistentReference: Data(result.persistentReference.bytes) as NSData
        default: dictionary(of: result)
        }
    }

    private static func data(of result: SearchResult) -> NSData? {
        guard let secret = result.secret else { return nil }
        return Data(secret.bytes.releasedFromLockedMemory()) as NSData
    }

    private func dictionary(of result: SearchResult) -> CFDictionary {
        let attributes = result.attributes
        let dictionary = NSMutableDictionary(capacity: attributes.count + 6)
        for (name, value) in attributes where name != .uuid {
            dictionary[name.rawValue as NSString] = value.object
        }
        func set(_ key: String, _ value: NSObject?) {
            if let value { dictionary[key as NSString] = value }
        }
        let rights = result.accessControl
        set(AttributeName.accessControl.rawValue, SecAccessControl(stored: rights))
        set(AttributeName.access.rawValue, result.trusted.map(SecAccess.init(stored:)))
        set(AttributeName.accessible.rawValue, rights.protection.code as NSString)
        if parts.contains(.data) {
            set(QueryWords.ValueKey.data.rawValue, Self.data(of: result))
        }
        if parts.contains(.persistentReference) {
            let key = QueryWords.ValueKey.persistentReference
            set(key.rawValue, Data(result.persistentReference.bytes) as NSData)
        }
        if parts.contains(.reference) {
            set(QueryWords.ValueKey.reference.rawValue, result.reference)
            set(QueryWords.classKey, result.queryClass.code as NSString)
        }
        return dictionary
    }
}

extension AttributeValue {
    /// Of the type that the attribute was given in.
    var object: NSObject {
        switch self {
        case .string(let text): text as NSString
        case .data(let bytes): Data(bytes) as NSData
        case .number(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
