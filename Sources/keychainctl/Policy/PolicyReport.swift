// SPDX-License-Identifier: Apache-2.0

/// What the keychain service says of its policies.
struct PolicyReport {
    let text: String

    /// For people: whether the last files were taken, in a line.
    var first: String { String(text.prefix { $0 != "\n" }) }

    /// False where others are in force than the files say.
    var isAsWritten: Bool { first.hasSuffix("rules in force") }
}
