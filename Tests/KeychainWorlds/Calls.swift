// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

// The four calls as programs write them.

func add(_ attributes: [String: Any]) -> OSStatus {
    SecItemAdd(attributes as CFDictionary, nil)
}

func copyMatching(_ query: [String: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result)
}

func update(_ query: [String: Any], _ changes: [String: Any]) -> OSStatus {
    SecItemUpdate(query as CFDictionary, changes as CFDictionary)
}

func delete(_ query: [String: Any]) -> OSStatus { SecItemDelete(query as CFDictionary) }

extension [String: Any] {
    func with(_ other: [String: Any]) -> [String: Any] { merging(other) { $1 } }
}
