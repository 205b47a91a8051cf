// SPDX-License-Identifier: Apache-2.0

/// Why a dialog brought no answer. Never says anything about what was typed.
package enum PinentryError: Error, Equatable, Sendable {
    /// The user said no, or the dialog was ended from outside.
    case cancelled
    /// The client no longer waits for the answer.
    case abandoned
    /// More was typed than an answer may have.
    case tooLong
    /// No pinentry is installed that could be shown here, or it did not do what it should.
    case notShown
}
