// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import CSystemd
internal import Glibc

/// The number of descriptors of a message.
package enum AttachedDescriptors: Equatable, Sendable {
    case none, one, several
}

/// The message at the beginning of a bus's unread bytes.
///
/// A message may bring up to 253 descriptors, which stay open in this process as long as the
/// message lives, and the library does not report those that its body does not name. So they are
/// counted before the message is read.
struct NextMessage {
    private static let headBytes = 12
    private static let serialPlace = 8

    /// `.none` also in the middle of a message: descriptors come with its first byte.
    let attached: AttachedDescriptors
    /// The sender's number of the message.
    let serial: UInt64

    /// nil where there are no bytes to read.
    init?(of socket: Int32) {
        var head = [UInt8](repeating: 0, count: Self.headBytes)
        // Safe: writes at most the array's length.
        let count = unsafe head.withUnsafeMutableBytes {
            unsafe kc_count_descriptors(socket, $0.baseAddress, $0.count)
        }
        // An end or an error is found by the library.
        if count < 0, errno == EAGAIN { return nil }
        attached = count <= 0 ? .none : count == 1 ? .one : .several
        let bytes = head[Self.serialPlace...]
        let ordered = head[0] == UInt8(ascii: "B") ? Array(bytes) : bytes.reversed()
        serial = ordered.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
