// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// As a key of a Swift dictionary, "class" and `"class" as NSString` are the same, as on Apple's
/// systems. Without this, `[kSecClass: …]` and `[kSecClass as String: …]` would disagree.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
