// SPDX-License-Identifier: Apache-2.0
@_exported public import Foundation

// Core Foundation's names for Foundation's classes, so that `query as CFDictionary` and
// `item as? [String: Any]` mean here what they mean on Apple's systems.

public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
/// Four letters in a number: what `kSecAttrCreator` and `kSecAttrType` hold.
public typealias FourCharCode = UInt32
public typealias OSType = FourCharCode
public typealias CFTypeID = UInt
public typealias CFHashCode = UInt
public typealias CFOptionFlags = UInt
public typealias CFTimeInterval = TimeInterval
public typealias CFAbsoluteTime = TimeInterval
public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFNumber = NSNumber
public typealias CFArray = NSArray
public typealias CFSet = NSSet
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFMutableArray = NSMutableArray
public typealias CFMutableData = NSMutableData
public typealias CFMutableString = NSMutableString
public typealias CFURL = NSURL
public typealias CFUUID = NSUUID
public typealias CFError = NSError
public typealias CFErrorDomain = NSString
public typealias CFNull = NSNull

/// The key of the bundle's identifier in its information.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"

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
