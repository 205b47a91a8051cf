// SPDX-License-Identifier: Apache-2.0
public import Foundation

public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }

/// Good for as long as the data lives.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    // Safe: any memory may be read as bytes; the caller keeps the data alive, as on Apple's systems.
    unsafe data.bytes.assumingMemoryBound(to: UInt8.self)
}
