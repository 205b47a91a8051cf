// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A strong password that people can still type: four groups of three letters and digits, without
/// those that look alike. With 57 characters it is one of 10²¹.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    var generator = SystemRandomNumberGenerator()
    let groups = (0..<4).map { _ in
        String((0..<3).compactMap { _ in passwordSigns.randomElement(using: &generator) })
    }
    return groups.joined(separator: "-") as NSString
}

private let passwordSigns = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
