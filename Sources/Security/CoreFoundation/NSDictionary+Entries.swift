// SPDX-License-Identifier: Apache-2.0
internal import CoreFoundation
internal import Foundation

extension NSDictionary {
    /// Calls `body` with each key and its value.
    ///
    /// Asked by `allKeys`, by `allValues` or entry by entry, Foundation casts each object to `Any`,
    /// which costs more than all the rest of reading a query.
    func forEachEntry<E: Error>(
        _ body: (_ key: AnyObject, _ value: AnyObject) throws(E) -> Void
    ) throws(E) {
        // Only a dictionary that can't change keeps its objects: `body` may call code of the program's,
        // and a class of the program's may make its objects as it is asked for them.
        guard type(of: self) == NSDictionary.self else {
            for (key, value) in zip(allKeys, allValues) {
                try body(key as AnyObject, value as AnyObject)
            }
            return
        }
        let count = self.count
        // Safe: there is room for all keys and all values. The dictionary owns them, and lives until
        // the last one was handed out.
        try unsafe withUnsafeTemporaryAllocation(
            of: UnsafeRawPointer?.self, capacity: count &* 2
        ) { objects throws(E) in
            defer { withExtendedLifetime(self) {} }
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
