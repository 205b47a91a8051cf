// SPDX-License-Identifier: Apache-2.0
public import Foundation

public final class SecRandom: NSObject, @unchecked Sendable {}
public typealias SecRandomRef = SecRandom

/// The system's random source, the only one.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with unpredictable bytes, for keys, salts and nonces.
@discardableResult
public func SecRandomCopyBytes(
    _ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer
) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var generator = SystemRandomNumberGenerator()
    // Safe: the caller says that there is room for `count` bytes.
    let target = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
    var filled = 0
    while filled < count {
        unsafe withUnsafeBytes(of: generator.next()) { random in
            let piece = min(random.count, count - filled)
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled..<filled + piece])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: random[..<piece]))
            filled += piece
        }
    }
    return errSecSuccess
}
