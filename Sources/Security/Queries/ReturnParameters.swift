// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

extension ReturnFields {
    /// Adds a part of an item that the dictionary asks for (`kSecReturn…`).
    mutating func add(
        _ key: QueryParameters.ReturnKey, _ value: QueryValue
    ) throws(RequestError) {
        guard case .boolean(let isWanted) = value else { throw .invalid(.badRequest) }
        if isWanted { insert(Self(key)) }
    }

    private init(_ key: QueryParameters.ReturnKey) {
        switch key {
        case .data: self = .data
        case .attributes: self = .attributes
        case .reference: self = .reference
        case .persistentReference: self = .persistentReference
        }
    }
}
