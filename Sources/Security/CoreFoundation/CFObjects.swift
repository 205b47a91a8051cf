// SPDX-License-Identifier: Apache-2.0
public import Foundation

// Functions of Core Foundation for objects of any kind, and the counts of collections.

public func CFEqual(_ one: CFTypeRef!, _ other: CFTypeRef!) -> Bool {
    guard let one = one as? NSObject else { return one === other }
    return one.isEqual(other)
}
public func CFHash(_ object: CFTypeRef!) -> CFHashCode {
    (object as? NSObject).map { UInt(bitPattern: $0.hash) } ?? 0
}
public func CFCopyDescription(_ object: CFTypeRef!) -> CFString! {
    object.map { String(describing: $0) as NSString }
}
public func CFArrayGetCount(_ array: CFArray!) -> CFIndex { array.count }
public func CFDictionaryGetCount(_ dictionary: CFDictionary!) -> CFIndex { dictionary.count }

/// Seconds since the first instant of 2001.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }
