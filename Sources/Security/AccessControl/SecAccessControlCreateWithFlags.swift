// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Makes the access control of an item from its protection class and flags.
///
/// Returns nil with errSecParam in `error` where flags contradict each other, or the protection
/// class is unknown.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    if let protection = SecAccessControl.Protection(protection),
        let rights = SecAccessControl(protection, flags.flags)
    {
        return rights
    }
    // Safe: the caller's own variable for an error; the caller releases it.
    unsafe error?.pointee = Unmanaged.passRetained(NSError(status: errSecParam))
    return nil
}
