// SPDX-License-Identifier: Apache-2.0
@_exported public import Foundation

// Core Foundation's names for Foundation's classes, so that `query as CFDictionary` and
// `item as? [String: Any]` mean here what they mean on Apple's systems.

public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
/// Four letters in a number: the values of `kSecAttrCreator` and `kSecAttrType`.
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
/// Foundation's booleans are numbers. With a class of its own, `value as! CFBoolean` would end the
/// program for each of them.
public typealias CFBoolean = NSNumber
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

// Safe: each is set once and is a text that can't be changed.
/// The key of the bundle's identifier in its information.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"
nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"

public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
public let kCFNull: CFNull! = NSNull()
/// The memory of `malloc` and `free`.
public let kCFAllocatorDefault: CFAllocator! = nil
/// Allocates nothing and frees nothing: for memory that stays its owner's.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

public final class CFAllocator: NSObject, @unchecked Sendable {}

public func CFBooleanGetValue(_ boolean: CFBoolean!) -> Bool { boolean.boolValue }
