// SPDX-License-Identifier: Apache-2.0

/// The program that listens on the socket of an X display, as the kernel told the prompter.
package struct DisplayServer: Sendable, Equatable {
    package let process: Int32
    package let user: UInt32
    /// The N of `:N`.
    package let number: UInt32

    package init(process: Int32, user: UInt32, number: UInt32) {
        self.process = process
        self.user = user
        self.number = number
    }
}
