// SPDX-License-Identifier: Apache-2.0

/// Why nothing was read or written. It has nothing of the typed text.
package enum TerminalError: Error, Equatable, Sendable {
    /// The process has no controlling terminal.
    case noTerminal
    /// Ctrl-C, Ctrl-D or a signal.
    case cancelled
    /// The client no longer waits for the answer.
    case abandoned
    case hungUp
    /// Another program reads here, and may have read what was typed.
    case shared
    /// More than the limit was typed or piped in.
    case tooLong
    case system(Int32)
}
