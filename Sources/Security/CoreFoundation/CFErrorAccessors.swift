// SPDX-License-Identifier: Apache-2.0
public import Foundation

public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex,
    _ userInfo: CFDictionary!
) -> CFError! {
    NSError(
        domain: domain as String, code: code,
        userInfo: userInfo as? [String: Any] ?? [:])
}
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! { error.domain as NSString }
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! {
    error.userInfo as NSDictionary
}
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! {
    error.localizedDescription as NSString
}
public func CFErrorCopyFailureReason(_ error: CFError!) -> CFString! {
    error.localizedFailureReason.map { $0 as NSString }
}
public func CFErrorCopyRecoverySuggestion(_ error: CFError!) -> CFString! {
    error.localizedRecoverySuggestion.map { $0 as NSString }
}
