// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// A dictionary sorted by what its keys are about (docs/secitem.md, Dictionary grammar). The first
/// letter and the length of a key say which kind it is of.
struct QueryWords {
    /// Keys that one dictionary may have.
    private static let mostKeys = 128
    private static let attributeLength = 4
    static let classKey = "class"

    private(set) var attributes: [AttributeName: QueryValue] = [:]
    private(set) var classCode: QueryValue?
    private(set) var match: [MatchKey: QueryValue] = [:]
    private(set) var returns: [ReturnKey: QueryValue] = [:]
    private(set) var use: [UseKey: QueryValue] = [:]
    private(set) var values: [ValueKey: QueryValue] = [:]

    enum MatchKey: String {
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
        case limit = "m_Limit"
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
        // Known, and without a meaning here.
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

    init(_ dictionary: CFDictionary) throws(Refusal) {
        try each(dictionary) { words, name, value throws(Refusal) in try words.add(name, value) }
    }

    /// Of what SecItemUpdate changes: attributes and a secret. Any other key is taken for the name
    /// of an attribute that does not exist.
    init(changes dictionary: CFDictionary) throws(Refusal) {
        try each(dictionary) { words, name, value throws(Refusal) in
            guard name.utf16.count == Self.attributeLength || name == ValueKey.data.rawValue
            else { throw .noSuchAttribute }
            try words.add(name, value)
        }
    }

    private mutating func each(
        _ dictionary: CFDictionary,
        _ body: (inout Self, String, QueryValue) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard dictionary.count <= Self.mostKeys else { throw .badRequest }
        // Both are in the same order. A walk through the dictionary itself would turn each value
        // into one of Swift's, and data into one more copy.
        for (key, value) in zip(dictionary.allKeys, dictionary.allValues) {
            switch QueryValue(key) {
            case .string(let name): try body(&self, name, QueryValue(value))
            // A number is taken for the name of an attribute, and there is none of that name.
            case .number, .real, .boolean: throw .noSuchAttribute
            default: throw .badRequest
            }
        }
    }

    private mutating func add(_ name: String, _ value: QueryValue) throws(Refusal) {
        if name.utf16.count == Self.attributeLength {
            attributes[AttributeName(rawValue: name)] = value
            return
        }
        switch name.utf8.first {
        case UInt8(ascii: "c") where name == Self.classKey: classCode = value
        case UInt8(ascii: "m"): match[try known(MatchKey(rawValue: name))] = value
        case UInt8(ascii: "r"): returns[try known(ReturnKey(rawValue: name))] = value
        case UInt8(ascii: "u"): use[try known(UseKey(rawValue: name))] = value
        case UInt8(ascii: "v"): values[try known(ValueKey(rawValue: name))] = value
        // Callbacks of other systems.
        case UInt8(ascii: "f") where name.utf16.count > 1: break
        default: throw .badRequest
        }
    }

    private func known<Key>(_ key: Key?) throws(Refusal) -> Key {
        guard let key else { throw .badRequest }
        return key
    }
}
