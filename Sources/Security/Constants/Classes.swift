// SPDX-License-Identifier: Apache-2.0
public import Foundation

// The key and the values for the class of item that a dictionary describes.
// Safe: each constant is set once, to a text that can't be changed.

nonisolated(unsafe) public let kSecClass: CFString = "class"
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
nonisolated(unsafe) public let kSecClassInternetPassword: CFString = "inet"
nonisolated(unsafe) public let kSecClassCertificate: CFString = "cert"
nonisolated(unsafe) public let kSecClassKey: CFString = "keys"
nonisolated(unsafe) public let kSecClassIdentity: CFString = "idnt"

/// As a key of a Swift dictionary, "class" equals `"class" as NSString`, as on Apple's systems.
/// Without this, `[kSecClass: …]` and `[kSecClass as String: …]` would disagree.
///
/// This is beside `kSecClass`, which every query names: from a static archive a linker takes only
/// the files that are referred to, and a conformance is never referred to.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
