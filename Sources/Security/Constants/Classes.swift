// SPDX-License-Identifier: Apache-2.0
public import Foundation

// The key and the values that say what kind of item a dictionary is about.
// Safe: each constant is set once, to a text that can't be changed.

nonisolated(unsafe) public let kSecClass: CFString = "class"
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"

/// As a key of a Swift dictionary, "class" and `"class" as NSString` are the same, as on Apple's
/// systems. Without this, `[kSecClass: …]` and `[kSecClass as String: …]` would disagree.
///
/// Beside `kSecClass`, which every query names: from a static archive a linker takes only the files
/// that something refers to, and nothing refers to a conformance.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
