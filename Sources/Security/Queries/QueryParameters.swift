// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// A dictionary sorted by the kinds of its keys (docs/secitem.md, Dictionary grammar). The first
/// letter and the length of a key tell its kind.
struct QueryParameters {
    /// The most keys of one dictionary.
    private static let mostKeys = 128
    private static let attributeLength = 4
    static let classKey = "class"

    private var classCode: QueryValue?
    /// Kept in order, as their meaning depends on the class, which may come after them.
    private(set) var attributes: [(name: AttributeName, value: QueryValue)] = []
    private(set) var match: [(key: MatchKey, value: QueryValue)] = []
    private(set) var returns: ReturnFields = []
    private(set) var use = UseParameters()
    private(set) var values = ValueParameters()

    enum MatchKey: String {
        case limit = "m_Limit"
        case policy = "m_Policy"
        case itemList = "m_ItemList"
        case searchList = "m_SearchList"
        case issuers = "m_Issuers"
        case emailAddress = "m_EmailAddressIfPresent"
        case subjectContains = "m_SubjectContains"
        case subjectStartsWith = "m_SubjectStartsWith"
        case subjectEndsWith = "m_SubjectEndsWith"
        case subjectWholeString = "m_SubjectWholeString"
        case hostOrSubdomain = "m_HostOrSubdomainOfHost"
        case caseInsensitive = "m_CaseInsensitive"
        case diacriticInsensitive = "m_DiacriticInsensitive"
        case widthInsensitive = "m_WidthInsensitive"
        case trustedOnly = "m_TrustedOnly"
        case validOnDate = "m_ValidOnDate"
    }

    enum ReturnKey: String {
        case data = "r_Data"
        case attributes = "r_Attributes"
        case reference = "r_Ref"
        case persistentReference = "r_PersistentRef"
    }

    enum UseKey: String {
        case itemList = "u_ItemList"
        case keychain = "u_Keychain"
        case operationPrompt = "u_OpPrompt"
        case noAuthenticationUI = "u_NoAuthUI"
        case authenticationUI = "u_AuthUI"
        case authenticationContext = "u_AuthCtx"
        case credentialReference = "u_CredRef"
        // Known keys without a meaning here.
        case tombstones = "u_Tomb"
        case callerName = "u_CallerName"
        case systemKeychain = "u_SystemKeychain"
        case systemKeychainAlways = "u_SystemKeychainAlways"
        case userIndependentKeychain = "u_UserIndependentKeychain"
    }

    enum ValueKey: String {
        case data = "v_Data"
        case reference = "v_Ref"
        case persistentReference = "v_PersistentRef"
    }

    init(_ dictionary: CFDictionary) throws(RequestError) {
        try read(dictionary, changesOnly: false)
    }

    /// For the changes of SecItemUpdate: attributes and a secret. Any other key is taken for the
    /// name of an unknown attribute.
    init(changes dictionary: CFDictionary) throws(RequestError) {
        try read(dictionary, changesOnly: true)
    }

    private mutating func read(_ dictionary: CFDictionary, changesOnly: Bool) throws(RequestError) {
        let count = dictionary.count
        guard count <= Self.mostKeys else { throw .invalid(.badRequest) }
        attributes.reserveCapacity(count)
        try dictionary.forEachEntry { key, value throws(RequestError) in
            guard let name = key as? NSString else {
                // A number is taken for the name of an attribute, and no attribute has that name.
                throw key is NSNumber ? .invalid(.noSuchAttribute) : .invalid(.badRequest)
            }
            try add(name as String, QueryValue(value), changesOnly)
        }
    }

    /// The class that the dictionary names, or the class of the item that it refers to.
    func queryClass() throws(RequestError) -> QueryClass {
        try QueryClass(
            code: classCode, persistent: values.persistentReference, reference: values.reference)
    }

    private mutating func add(
        _ name: String, _ value: QueryValue, _ changesOnly: Bool
    ) throws(RequestError) {
        if name.utf16.count == Self.attributeLength {
            attributes.append((AttributeName(rawValue: name), value))
            return
        }
        if changesOnly, name != ValueKey.data.rawValue { throw .invalid(.noSuchAttribute) }
        switch name.utf8.first {
        case UInt8(ascii: "c") where name == Self.classKey: classCode = value
        case UInt8(ascii: "m"): match.append((try known(MatchKey(rawValue: name)), value))
        case UInt8(ascii: "r"): try returns.add(known(ReturnKey(rawValue: name)), value)
        case UInt8(ascii: "u"): try use.add(known(UseKey(rawValue: name)), value)
        case UInt8(ascii: "v"): try values.add(known(ValueKey(rawValue: name)), value)
        // Callbacks of other systems.
        case UInt8(ascii: "f") where name.utf16.count > 1: break
        default: throw .invalid(.badRequest)
        }
    }

    private func known<Key>(_ key: Key?) throws(RequestError) -> Key {
        guard let key else { throw .invalid(.badRequest) }
        return key
    }
}
