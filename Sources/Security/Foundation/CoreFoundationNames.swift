// SPDX-License-Identifier: Apache-2.0
@_exported public import Foundation

// Core Foundation's names for Foundation's classes, so that `query as CFDictionary` and
// `item as? [String: Any]` mean here what they mean on Apple's systems.

public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFNumber = NSNumber
public typealias CFArray = NSArray
public typealias CFSet = NSSet
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFError = NSError
public typealias CFErrorDomain = NSString
public typealias CFNull = NSNull

public let kCFBooleanTrue: NSNumber! = NSNumber(value: true)
public let kCFBooleanFalse: NSNumber! = NSNumber(value: false)
public let kCFNull: CFNull! = NSNull()
/// The default; no other allocator exists here.
public let kCFAllocatorDefault: CFAllocator! = nil

public final class CFAllocator: NSObject, @unchecked Sendable {}

/// For code that writes `true as CFBoolean`; Foundation's own booleans are numbers.
public final class CFBoolean: NSObject, ExpressibleByBooleanLiteral, @unchecked Sendable {
    let value: Bool

    public init(booleanLiteral value: Bool) { self.value = value }

    public override var hash: Int { value.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? CFBoolean)?.value == value
    }
    public override var description: String { value ? "true" : "false" }
}

public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean.value }
public func CFBooleanGetValue(_ boolean: NSNumber!) -> Bool { boolean.boolValue }
