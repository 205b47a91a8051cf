// SPDX-License-Identifier: Apache-2.0
internal import CoreFoundation
internal import Foundation

extension NSDictionary {
    /// Calls `body` with each key and its value.
    ///
    /// Asked by `allKeys`, by `allValues` or entry by entry, Foundation casts each object to `Any`,
    /// which costs more than reading a query.
    func forEachEntry<E: Error>(
        _ body: (_ key: AnyObject, _ value: AnyObject) throws(E) -> Void
    ) throws(E) {
        // A class of the program's may make its objects as it is asked for them, so that they may end
        // before they are read below.
        guard type(of: self) == NSDictionary.self || type(of: self) == NSMutableDictionary.self
        else {
            for (key, value) in zip(allKeys, allValues) {
                try body(key as AnyObject, value as AnyObject)
            }
            return
        }
        let count = self.count
        // Safe: there is room for all keys and all values, which the dictionary keeps. Its class is
        // one of Foundation's two, whose objects are Core Foundation's dictionaries.
        try unsafe withUnsafeTemporaryAllocation(
            of: UnsafeRawPointer?.self, capacity: count &* 2
        ) { objects throws(E) in
            unsafe objects.initialize(repeating: nil)
            let values = unsafe objects.baseAddress?.advanced(by: count)
            unsafe CFDictionaryGetKeysAndValues(
                unsafeBitCast(self, to: CoreFoundation.CFDictionary.self), objects.baseAddress,
                values)
            for place in 0..<count {
                guard let key = unsafe objects[place], let value = unsafe objects[count &+ place]
                else { continue }
                try body(
                    unsafe Unmanaged<AnyObject>.fromOpaque(key).takeUnretainedValue(),
                    unsafe Unmanaged<AnyObject>.fromOpaque(value).takeUnretainedValue())
            }
        }
    }
}
