// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

extension Keychain {
    /// The properties of an item that are known without opening its secret.
    public struct Item: Sendable, Hashable {
        public let account: String
        public let accessGroup: String
        public let label: String?
        public let accessibility: Accessibility
        public let created: Date
        public let modified: Date
        /// Identifies the item as long as it exists, also in `kSecValuePersistentRef`.
        public let persistentReference: Data
    }
}

extension Keychain.Item {
    /// nil where the store left out attributes that every item has.
    init?(_ found: KeychainModel.Item) {
        let attributes = found.attributes
        guard let group = attributes[.accessGroup]?.text,
            case .date(let created)? = attributes[.creationDate],
            case .date(let modified)? = attributes[.modificationDate]
        else { return nil }
        account = attributes[.account]?.text ?? ""
        accessGroup = group
        label = attributes[.label]?.text
        accessibility = Keychain.Accessibility(found.accessControl.protection)
        self.created = Date(timeIntervalSinceReferenceDate: created)
        self.modified = Date(timeIntervalSinceReferenceDate: modified)
        persistentReference = Data(found.reference.bytes)
    }
}

extension AttributeValue {
    /// Other programs may have stored an account as data or as a number: its bytes are shown then.
    fileprivate var text: String {
        if case .string(let text) = self { return text }
        return String(decoding: comparedBytes, as: UTF8.self)
    }
}
