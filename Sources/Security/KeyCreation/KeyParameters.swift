// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// The parameters of a new key, from a dictionary.
struct KeyParameters {
    private var values: [String: Any]

    static let privateKeyAttributes = "private"
    static let publicKeyAttributes = "public"

    init(_ dictionary: CFDictionary) throws(RequestError) {
        var values: [String: Any] = [:]
        try dictionary.forEachEntry { key, value throws(RequestError) in
            guard case .string(let name) = QueryValue(key) else { throw .invalid(.badRequest) }
            values[name] = value
        }
        self.values = values
    }

    /// nil where the dictionary names no type; throws for an unknown one.
    func type() throws(RequestError) -> KeyKind.KeyType? {
        guard let code = try number(.type) else { return nil }
        guard let type = KeyKind.KeyType(rawValue: code) else { throw .invalid(.notImplemented) }
        return type
    }

    func keyClass() throws(RequestError) -> Int64? { try number(.keyClass) }

    func bits() throws(RequestError) -> Int? {
        try number(.keySize).map { Int(clamping: $0) }
    }

    func isPermanent() throws(RequestError) -> Bool { try number(.isPermanent) ?? 0 != 0 }

    var hasToken: Bool { value(AttributeName.tokenID.rawValue) != nil }

    /// The parameters of one half of a pair: those of both halves, and those of this one.
    func half(_ name: String) throws(RequestError) -> KeyParameters {
        var half = self
        half.values[Self.privateKeyAttributes] = nil
        half.values[Self.publicKeyAttributes] = nil
        switch value(name) {
        case nil: break
        case .dictionary(let own)?: half.values.merge(try KeyParameters(own).values) { $1 }
        default: throw .invalid(.badRequest)
        }
        return half
    }

    /// The dictionary of an item for the key, without attributes that the key determines.
    func item(of key: SecKey) -> CFDictionary {
        let own: [AttributeName] = [.type, .keySize, .keyClass, .isPermanent]
        var item = values.filter { value in !own.contains { $0.rawValue == value.key } }
        item[QueryParameters.classKey] = nil
        item[QueryParameters.ValueKey.reference.rawValue] = key
        item[QueryParameters.ReturnKey.persistentReference.rawValue] = true
        return item as CFDictionary
    }

    private func number(_ name: AttributeName) throws(RequestError) -> Int64? {
        guard let given = value(name.rawValue) else { return nil }
        guard case .number(let number) = try AttributeKind.number.value(given) else {
            throw .invalid(.badRequest)
        }
        return number
    }

    private func value(_ name: String) -> QueryValue? {
        values[name].map { QueryValue($0 as AnyObject) }
    }
}
