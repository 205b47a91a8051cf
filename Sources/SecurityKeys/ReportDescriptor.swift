// SPDX-License-Identifier: Apache-2.0

/// What a device on USB or Bluetooth says of its reports (HID 1.11, 6.2.2), as far as that tells
/// whether it is a security key.
package enum ReportDescriptor {
    /// The kernel takes no longer one.
    static let longest = 4096
    /// The page of the FIDO Alliance, and on it a key that speaks CTAPHID.
    private static let securityKey: UInt32 = 0xF1D0_0001

    private static let longItem: UInt8 = 0xFE
    private static let usagePage: UInt8 = 0x04
    private static let usage: UInt8 = 0x08
    private static let collection: UInt8 = 0xA0
    private static let application: UInt32 = 1

    /// Whether one of its collections is a key's. An item that is cut off ends it.
    package static func isSecurityKey(_ bytes: [UInt8]) -> Bool {
        var rest = bytes.prefix(longest)
        var (page, named) = (UInt32(0), UInt32(0))
        while let head = rest.popFirst() {
            if head == longItem {
                guard let count = rest.first, rest.count >= 2 + Int(count) else { return false }
                rest = rest.dropFirst(2 + Int(count))
                continue
            }
            let count = head & 3 == 3 ? 4 : Int(head & 3)
            guard rest.count >= count else { return false }
            let value = rest.prefix(count).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(count)
            switch head & 0xFC {
            case usagePage: page = value & 0xFFFF
            // Of four bytes it has a page of its own.
            case usage: named = count == 4 ? value : page << 16 | value
            case collection where value == application && named == securityKey: return true
            default: break
            }
        }
        return false
    }
}
