// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A part of an array or of data, in elements.
public struct CFRange: Sendable, Equatable {
    public var location: CFIndex
    public var length: CFIndex

    public init(location: CFIndex = 0, length: CFIndex = 0) {
        self.location = location
        self.length = length
    }
}

public func CFRangeMake(_ location: CFIndex, _ length: CFIndex) -> CFRange {
    CFRange(location: location, length: length)
}

/// Data with a copy of the bytes; nil where the length is negative.
public func CFDataCreate(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex
) -> CFData! {
    guard length >= 0 else { return nil }
    // Safe: the caller says that there are `length` bytes.
    return unsafe NSData(bytes: bytes, length: length)
}

/// Data of the bytes themselves, which must outlive it; nil where the length is negative. Unless
/// `bytesDeallocator` is `kCFAllocatorNull`, the bytes are from `malloc`, and the data frees them.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex,
    _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard length >= 0 else { return nil }
    // Safe: the caller says that there are `length` bytes; immutable data writes to none of them.
    return unsafe NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }

/// The data's bytes, valid while the data lives.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    // Safe: any memory may be read as bytes; the caller keeps the data alive, as on Apple's systems.
    unsafe data.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Copies a part of the data; does nothing where the data has no such part.
public func CFDataGetBytes(
    _ data: CFData!, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>!
) {
    let (start, length) = (range.location, range.length)
    guard start >= 0, length > 0, length <= data.length, start <= data.length - length else {
        return
    }
    // Safe: the part was checked; the caller says that there is room for it.
    unsafe UnsafeMutableRawPointer(buffer).copyMemory(
        from: data.bytes + start, byteCount: length)
}
