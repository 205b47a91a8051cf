// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Owns a file descriptor and closes it at the end.
package final class Descriptor: Sendable {
    package let number: Int32
    package init(owning number: Int32) { self.number = number }
    deinit { close(number) }
}
