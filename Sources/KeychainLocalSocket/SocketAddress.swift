// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import KeychainLinuxSystem
internal import Glibc

/// Paths of sockets.
enum SocketAddress {
    static func make(
        _ kind: __socket_type = SOCK_STREAM
    ) throws(SocketError) -> Descriptor { Descriptor(owning: try makeNumber(kind)) }

    static func makeNumber(_ kind: __socket_type = SOCK_STREAM) throws(SocketError) -> Int32 {
        let number = socket(AF_UNIX, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .system(errno) }
        return number
    }

    static func connect(
        _ path: String, _ deadline: ContinuousClock.Instant,
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
            guard errno == EINTR, ContinuousClock.now < deadline else {
                if errno == EAGAIN { throw .timedOut }
                throw .system(errno)
            }
        }
    }

    /// Connects to an abstract name, which belongs to the process that listens on it until that
    /// process ends.
    static func connect(abstract name: String) throws(SocketError) -> Descriptor {
        let descriptor = try make()
        // Never waits for a listener whose backlog is full.
        guard fcntl(descriptor.number, F_SETFL, O_NONBLOCK) == 0 else { throw .system(errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = [0] + Array(name.utf8)
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw .pathTooLong
        }
        // Safe: the name was measured.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: bytes)
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
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
