// SPDX-License-Identifier: Apache-2.0

/// Why a dialog brought no answer. It has nothing of the typed text.
package enum PinentryError: Error, Equatable, Sendable {
    /// The user cancelled, or the dialog was ended from outside.
    case cancelled
    /// The client no longer waits for the answer.
    case abandoned
    /// The typed text is longer than an answer may be.
    case tooLong
    /// No installed pinentry could be shown here, or it failed.
    case notShown
}
