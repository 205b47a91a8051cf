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
    func object(for answered: AnsweredItem, in keychain: String?) -> CFTypeRef? {
        switch parts {
        case []: nil
        case .data: secret(of: answered)
        case .reference: SecKeychainItem(answered.item.reference, in: keychain)
        case .persistentReference: Data(answered.item.reference.bytes) as NSData
        default: dictionary(of: answered, in: keychain)
        }
    }

    private func secret(of answered: AnsweredItem) -> NSData? {
        guard let secret = answered.secret else { return nil }
        return Data(secret.bytes.releasedFromLockedMemory()) as NSData
    }

    private func dictionary(of answered: AnsweredItem, in keychain: String?) -> CFDictionary {
        let item = answered.item
        let dictionary = NSMutableDictionary(capacity: item.attributes.count + 6)
        for (name, value) in item.attributes where name != .uuid {
            dictionary[name.rawValue as NSString] = value.object
        }
        func set(_ key: String, _ value: NSObject) { dictionary[key as NSString] = value }
        set(AttributeName.accessControl.rawValue, SecAccessControl(stored: item.accessControl))
        set(AttributeName.accessible.rawValue, item.accessControl.protection.code as NSString)
        if parts.contains(.data), let secret = secret(of: answered) {
            set(QueryWords.ValueKey.data.rawValue, secret)
        }
        if parts.contains(.persistentReference) {
            let key = QueryWords.ValueKey.persistentReference
            set(key.rawValue, Data(item.reference.bytes) as NSData)
        }
        if parts.contains(.reference) {
            let reference = SecKeychainItem(item.reference, in: keychain)
            set(QueryWords.ValueKey.reference.rawValue, reference)
            set(QueryWords.classKey, item.reference.itemClass.code as NSString)
        }
        return dictionary
    }
}

extension AttributeValue {
    /// Of the type that the attribute was given in.
    fileprivate var object: NSObject {
        switch self {
        case .string(let text): text as NSString
        case .data(let bytes): Data(bytes) as NSData
        case .number(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
