// SPDX-License-Identifier: Apache-2.0
internal import Foundation

extension NSNumber {
    /// Foundation has one object for true and one for false; no other number is a boolean.
    var isBoolean: Bool { self === Self.yes || self === Self.no }

    private static let yes = NSNumber(value: true)
    private static let no = NSNumber(value: false)
}
