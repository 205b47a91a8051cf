// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a status means, in a sentence for people.
public func SecCopyErrorMessageString(
    _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
    StatusMessages.text(for: status) as NSString
}

/// The sentences, in the groups of the statuses.
enum StatusMessages {
    /// For a status without a sentence: its number.
    static func text(for status: OSStatus) -> String { all[status] ?? "OSStatus \(status)" }

    private static let all = groups.reduce(into: [:]) { all, group in
        all.merge(group) { first, _ in first }
    }

    private static let groups = [
        common, keychain, trust, device, certificate, accountServer, module, cryptography,
        contextAttribute, operation, request, timestamp,
    ]
}
