// SPDX-License-Identifier: Apache-2.0

/// The program that listens on the socket of an X display, as the kernel told the prompter.
public struct DisplayServer: Sendable, Equatable {
    public let process: Int32
    public let user: UInt32
    /// N of `:N`.
    public let number: UInt32

    public init(process: Int32, user: UInt32, number: UInt32) {
        self.process = process
        self.user = user
        self.number = number
    }
}
