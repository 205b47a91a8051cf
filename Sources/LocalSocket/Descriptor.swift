// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Owns a file descriptor and closes it at the end.
public final class Descriptor: Sendable {
    public let number: Int32
    public init(owning number: Int32) { self.number = number }
    deinit { close(number) }
}
