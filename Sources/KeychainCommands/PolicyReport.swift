// SPDX-License-Identifier: Apache-2.0

/// What the keychain service says of its policies.
package struct PolicyReport {
    package let text: String

    package init(text: String) { self.text = text }

    /// For people: whether the last files were taken, in a line.
    var first: String { String(text.prefix { $0 != "\n" }) }

    /// False where others are in force than the files say.
    package var isAsWritten: Bool { first.hasSuffix("rules in force") }
}
