// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension NSMutableDictionary {
    /// Sets the value of a key, or removes it: on Apple's systems every dictionary has this from
    /// key-value coding, and programs build queries with it.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value { self[key] = value } else { removeObject(forKey: key) }
    }
}
