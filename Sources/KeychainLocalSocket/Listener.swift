// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
internal import Synchronization

/// A socket that programs connect to.
package final class Listener: Sendable {
    private static let backlog: Int32 = 256
    /// How long to wait for connections to end.
    private static let pause: UInt32 = 50_000

    private let descriptor: Descriptor
    /// nil where there was no descriptor for it: accept() ends with the process then.
    private let wake: Wake?
    /// The path it bound and the file it made there.
    private let bound: (path: String, file: FileIdentity)?
    private let isShutDown = Mutex(false)

    /// Binds the path, whose folder must exist. A socket without a listener is
    /// replaced; one that is in use is not, nor anything that is no socket.
    ///
    /// The socket appears under its name when it already listens and has its mode.
    package convenience init(path: String, mode: UInt32) throws(SocketError) {
        try self.init(
            at: path, mode: mode, Self.listening(try SocketAddress.makeNumber()))
    }

    /// The same for connections of whole records, which bring descriptors. A child is given the
    /// socket and accepts them.
    package convenience init(recordsAt path: String, mode: UInt32) throws(SocketError) {
        try self.init(at: path, mode: mode, try SocketAddress.make(SOCK_SEQPACKET))
    }

    private init(
        at path: String, mode: UInt32, _ descriptor: Descriptor
    ) throws(SocketError) {
        self.descriptor = descriptor
        do { wake = try Wake() } catch { throw SocketError(error) }
        let temporary = path + ".\(getpid())"
        // Left by a process of our number that was killed.
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
    package init(inherited number: Int32) {
        descriptor = Self.listening(number)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        wake = try? Wake()
        bound = nil
    }

    package var number: Int32 { descriptor.number }

    /// The next connection. Throws `.closed` after `shutDown`.
    package func accept() throws(SocketError) -> Descriptor {
        while true {
            let number = kc_accept(descriptor.number, wake?.number ?? -1)
            let error = errno
            if isShutDown.withLock({ $0 }) {
                if number >= 0 { kc_close_peer(number) }
                throw .closed
            }
            if number >= 0 { return Descriptor(owning: number) { kc_close_peer($0) } }
            switch error {
            case EINTR, ECONNABORTED, EAGAIN: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                // Connections end, and then there is room again.
                usleep(Self.pause)
            default:
                usleep(Self.pause)
                throw .system(error)
            }
        }
    }

    /// Takes the path back and wakes `accept`. An inherited socket stays as it is: the process that
    /// made it may give it to our successor.
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

    /// Peers can't send descriptors along, or, before Linux 6.16, hold up no thread with them: those
    /// of connections that were not accepted are closed with the listener.
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

    /// Replaces what is dead, and nothing else.
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

    /// Whether there is no listener. A full backlog, or a socket that is closed to us, has one.
    private static func isDead(_ path: String) -> Bool {
        do {
            _ = try SocketAddress.connect(path, .now + .seconds(1))
            return false
        } catch { return error == .system(ECONNREFUSED) }
    }
}
