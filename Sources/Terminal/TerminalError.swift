// SPDX-License-Identifier: Apache-2.0

/// Why nothing was read or written. Never says anything about what was typed.
public enum TerminalError: Error, Equatable, Sendable {
    /// The process has no controlling terminal.
    case noTerminal
    /// Ctrl-C, Ctrl-D or a signal.
    case cancelled
    /// Nobody waits for the answer any more.
    case abandoned
    case hungUp
    /// More than the limit was typed or piped in.
    case tooLong
    case system(Int32)
}
