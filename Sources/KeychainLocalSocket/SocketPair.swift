// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import Glibc

/// Both ends of a new connection, for other processes.
package enum SocketPair {
    /// Each call receives what one call sent.
    package static func ofRecords() throws(SocketError) -> (Descriptor, Descriptor) {
        try make(SOCK_SEQPACKET)
    }

    package static func ofStreams() throws(SocketError) -> (Descriptor, Descriptor) {
        try make(SOCK_STREAM)
    }

    private static func make(
        _ type: __socket_type
    ) throws(SocketError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        let flags = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        // Safe: the kernel writes two numbers.
        guard unsafe socketpair(AF_UNIX, flags, 0, &ends) == 0 else { throw .system(errno) }
        // Safe: the array has two numbers.
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }
}
