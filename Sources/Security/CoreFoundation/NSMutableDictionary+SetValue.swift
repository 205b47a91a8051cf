// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension NSMutableDictionary {
    /// Sets the value of a key, or removes it. On Apple's systems every dictionary has this from
    /// key-value coding, and programs build queries with it.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value { self[key] = value } else { removeObject(forKey: key) }
    }

    /// Sets the value of a key that the caller declares as `NSCopying`, as Apple's systems require.
    @_disfavoredOverload
    public func setObject(_ object: Any, forKey key: any NSCopying) {
        // Only objects conform to `NSCopying` here.
        if let key = key as? NSObject { self[key] = object }
    }
}
