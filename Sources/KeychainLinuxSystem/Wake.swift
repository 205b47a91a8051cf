// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// Ends the wait of another thread, which waits for it beside another descriptor (eventfd(2)). Once
/// woken it stays so.
package final class Wake: Sendable {
    private let descriptor: Descriptor

    package init() throws(SystemError) {
        let number = kc_wake_make()
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
    }

    /// Readable once it is woken.
    package var number: Int32 { descriptor.number }

    package var isWoken: Bool { Wait.isReady(Wait.input, number) }

    package func wake() { kc_wake(number) }
}
