// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
internal import Synchronization

/// A socket that programs connect to.
package final class Listener: Sendable {
    private static let backlog: Int32 = 256
    /// The time between two tries while there is no room for a connection, in microseconds.
    private static let pause: UInt32 = 50_000

    private let descriptor: Descriptor
    /// nil where no descriptor was free for it: `accept` then returns only when the process ends.
    private let wake: Wake?
    /// The bound path, and the file that was made there.
    private let bound: (path: String, file: FileIdentity)?
    private let isShutDown = Mutex(false)

    /// Binds the path, whose folder must exist. A socket without a listener is
    /// replaced; one that is in use is not, nor anything that is no socket.
    ///
    /// The socket appears under its name only when it is listening and has its mode.
    package convenience init(path: String, mode: UInt32) throws(SocketError) {
        try self.init(
            at: path, mode: mode, Self.listening(try SocketAddress.makeNumber()))
    }

    /// Makes a socket for connections of whole records that may carry descriptors. A child gets the
    /// socket and accepts the connections.
    package convenience init(recordsAt path: String, mode: UInt32) throws(SocketError) {
        try self.init(at: path, mode: mode, try SocketAddress.make(SOCK_SEQPACKET))
    }

    private init(
        at path: String, mode: UInt32, _ descriptor: Descriptor
    ) throws(SocketError) {
        self.descriptor = descriptor
        do { wake = try Wake() } catch { throw SocketError(error) }
        let temporary = path + ".\(getpid())"
        // Left by a killed process that had the same number.
        // Safe: Swift's text is passed with a zero at its end, for the call alone.
        if FileIdentity(socket: temporary) != nil { _ = unsafe unlink(temporary) }
        try Self.bind(descriptor, to: temporary, mode: mode)
        guard let file = FileIdentity(socket: temporary) else { throw .system(ENOENT) }
        bound = (path, file)
        do {
            try Self.giveName(path, to: temporary)
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    /// Takes over a socket that another process made, such as systemd.
    package convenience init(inherited number: Int32) { self.init(taking: Self.listening(number)) }

    private init(taking descriptor: Descriptor) {
        self.descriptor = descriptor
        _ = fcntl(descriptor.number, F_SETFD, FD_CLOEXEC)
        wake = try? Wake()
        bound = nil
    }

    /// The socket for connections of whole records that a process of root's passed as this descriptor;
    /// nil where it is none.
    package static func inheritedRecords(_ number: Int32) -> Listener? {
        func says(_ option: Int32, _ expected: Int32) -> Bool {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            // Safe: the kernel writes at most one Int32.
            return unsafe getsockopt(number, SOL_SOCKET, option, &value, &size) == 0
                && value == expected
        }
        guard says(SO_DOMAIN, AF_UNIX), says(SO_TYPE, Int32(SOCK_SEQPACKET.rawValue)),
            says(SO_ACCEPTCONN, 1)
        else { return nil }
        // Peers pass descriptors with their first record, which comes before the connection is accepted.
        guard kc_accept_descriptors(number) == 0 else { return nil }
        return Listener(taking: Descriptor(owning: number) { kc_close_held($0) })
    }

    package var number: Int32 { descriptor.number }

    /// The next connection. Throws `.closed` after `shutDown`.
    package func accept() throws(SocketError) -> Descriptor {
        Descriptor(owning: try acceptNumber()) { kc_close_peer($0) }
    }

    /// The next connection, for another process. Throws `.closed` after `shutDown`.
    package func acceptToPass() throws(SocketError) -> PassedSocket {
        PassedSocket(try acceptNumber())
    }

    private func acceptNumber() throws(SocketError) -> Int32 {
        while true {
            let number = kc_accept(descriptor.number, wake?.number ?? -1)
            let error = errno
            if isShutDown.withLock({ $0 }) {
                if number >= 0 { kc_close_peer(number) }
                throw .closed
            }
            if number >= 0 { return number }
            switch error {
            case EINTR, ECONNABORTED, EAGAIN: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                // There is room again when connections end.
                usleep(Self.pause)
            default:
                usleep(Self.pause)
                throw .system(error)
            }
        }
    }

    /// Removes the path and wakes `accept`. An inherited socket is kept open: the process that made
    /// it may give it to the next daemon.
    package func shutDown() {
        // First, since the process may end as soon as `accept` does. Safe: the name of a socket
        // that is still ours.
        if let bound, FileIdentity(socket: bound.path) == bound.file {
            _ = unsafe unlink(bound.path)
        }
        isShutDown.withLock { $0 = true }
        wake?.wake()
        if bound != nil { _ = Glibc.shutdown(descriptor.number, Int32(SHUT_RDWR)) }
    }

    /// Refuses descriptors from peers. Before Linux 6.16, which introduced that, descriptors at
    /// least block no thread: those of connections that were not accepted are closed with the
    /// listener.
    private static func listening(_ number: Int32) -> Descriptor {
        _ = kc_refuse_descriptors(number)
        return Descriptor(owning: number) { kc_close_held($0) }
    }

    private static func bind(
        _ descriptor: Descriptor, to path: String, mode: UInt32
    ) throws(SocketError) {
        // The new file gets the socket's own mode less the umask; only then is it widened.
        guard fchmod(descriptor.number, mode) == 0 else { throw .system(errno) }
        let result = unsafe try SocketAddress.withAddress(path) { address, length in
            // Safe: the address is borrowed for the call.
            unsafe Glibc.bind(descriptor.number, address, length)
        }
        guard result == 0 else { throw .system(errno) }
        guard unsafe chmod(path, mode) == 0, listen(descriptor.number, backlog) == 0 else {
            let error = errno
            _ = unsafe unlink(path)
            throw .system(error)
        }
    }

    /// Replaces a socket without a listener, and nothing else.
    private static func giveName(_ path: String, to temporary: String) throws(SocketError) {
        for _ in 0..<2 {
            // Safe: both are paths.
            if unsafe kc_rename_new(temporary, path) == 0 { return }
            guard errno == EEXIST else { throw .system(errno) }
            guard let found = FileIdentity(socket: path), isDead(path),
                FileIdentity(socket: path) == found
            else { throw .addressInUse }
            _ = unsafe unlink(path)
        }
        throw .addressInUse
    }

    /// Whether the socket has no listener. One with a full backlog, or one that refuses this
    /// process, has a listener.
    private static func isDead(_ path: String) -> Bool {
        do {
            _ = try SocketAddress.connect(path, .now + .seconds(1))
            return false
        } catch { return error == .system(ECONNREFUSED) }
    }
}
