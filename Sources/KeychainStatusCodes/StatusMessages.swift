// SPDX-License-Identifier: Apache-2.0

/// Sentences for people about the statuses of the item calls, by number; `Security` has the names.
package enum StatusMessages {
    /// The sentence, or the number of a status without one.
    package static func text(for status: Int32) -> String {
        known(status) ?? "OSStatus \(status)"
    }

    /// nil for a status without a sentence.
    package static func known(_ status: Int32) -> String? { all[status] }

    private static let all = groups.reduce(into: [:]) { all, group in
        all.merge(group) { first, _ in first }
    }

    private static let groups = [
        common, keychain, trust, device, certificate, accountServer, module, cryptography,
        contextAttribute, operation, request, timestamp,
    ]
}
