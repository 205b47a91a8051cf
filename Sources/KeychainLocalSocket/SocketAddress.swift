// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
package import KeychainLinuxSystem
internal import Glibc

/// Connections by the names of sockets.
package enum SocketAddress {
    static func make(
        _ kind: __socket_type = SOCK_STREAM
    ) throws(SocketError) -> Descriptor { Descriptor(owning: try makeNumber(kind)) }

    static func makeNumber(_ kind: __socket_type = SOCK_STREAM) throws(SocketError) -> Int32 {
        let number = socket(AF_UNIX, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .system(errno) }
        return number
    }

    static func connect(
        _ path: String, _ deadline: BootTime,
        _ kind: __socket_type = SOCK_STREAM
    ) throws(SocketError) -> Descriptor {
        let descriptor = try make(kind)
        try descriptor.connect(within: .seconds(2))
        while true {
            let result = unsafe try withAddress(path) { address, length in
                // Safe: the address is borrowed for the call.
                unsafe Glibc.connect(descriptor.number, address, length)
            }
            if result == 0 { return descriptor }
            guard errno == EINTR, BootTime.now < deadline else {
                if errno == EAGAIN { throw .timedOut }
                throw .system(errno)
            }
        }
    }

    /// Connects to a name as the kernel has it: a path, or a zero and an abstract name. Neither this
    /// call nor a later read or write waits, so a listener whose backlog is full is an error.
    package static func connectAtOnce(to name: [UInt8]) throws(SocketError) -> Descriptor {
        let descriptor = try make()
        guard fcntl(descriptor.number, F_SETFL, O_NONBLOCK) == 0 else { throw .system(errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw .pathTooLong
        }
        // Safe: the name was measured.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: name)
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        // Safe: the address is borrowed for the call, and longer than the length.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor.number, $0, length)
            }
        }
        guard result == 0 else { throw .system(errno) }
        return descriptor
    }

    static func withAddress<R>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) throws(SocketError) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity, !path.utf8.contains(0) else { throw .pathTooLong }
        // Safe: the path was measured; the rest of the array is zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: path.utf8)
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
