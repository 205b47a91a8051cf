// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
internal import KeychainSecrets

/// A program's end of a connection to the daemon.
package final class ClientConnection: @unchecked Sendable {
    private static let connectSeconds = 2.0
    /// keychaind accepts at once; the process that serves its user greets, and may have to be started
    /// first, on a machine that is just starting.
    private static let patience: Duration = .seconds(10)

    package let serverUser: UInt32
    private let descriptor: Descriptor
    private let stream: FrameStream
    private let maker = getpid()

    /// Waits for the server's greeting by calling `wait`; `shutDown` ends that, also from another
    /// thread.
    package typealias Greeting = (
        _ shutDown: @escaping @Sendable () -> Void, _ wait: () throws(SocketError) -> Void
    ) throws(SocketError) -> Void

    /// If `requiredPeer` is given, the server must run as that user. Waits until the server greets.
    package init(
        path: String, requiredPeer: UInt32?, greetedWithin patience: Duration = patience,
        greeting: Greeting = { _, wait throws(SocketError) in try wait() }
    ) throws(SocketError) {
        let ourselves = kc_own_credentials()
        descriptor = try SocketAddress.connect(
            path, BootTime.now + .seconds(Self.connectSeconds))
        serverUser = try PeerCredentials(of: descriptor).user
        if let requiredPeer, serverUser != requiredPeer { throw .peerNotAllowed }
        let connected = descriptor
        var greeted: Hello?
        try greeting({ Self.shutDown(connected) }) { () throws(SocketError) in
            greeted = try Self.hello(connected, .now + patience)
        }
        guard let hello = greeted else { throw .closed }
        stream = FrameStream(
            descriptor, sender: nil, ourselves: ourselves,
            nonce: hello.nonce)
    }

    /// Takes over one end of a pair of sockets, whose other end is served as a program's connection
    /// is. Waits until the server greets.
    package init(
        over descriptor: Descriptor, greetedWithin patience: Duration
    ) throws(SocketError) {
        let ourselves = kc_own_credentials()
        self.descriptor = descriptor
        serverUser = try PeerCredentials(of: descriptor).user
        let hello = try Self.hello(descriptor, .now + patience)
        stream = FrameStream(
            descriptor, sender: nil, ourselves: ourselves,
            nonce: hello.nonce)
    }

    package func send(_ frame: Frame) throws(SocketError) { try stream.send(frame) }

    package func receive(
        _ limits: FrameLimits, within patience: Duration?
    ) throws(SocketError) -> Frame {
        try stream.receive(limits, within: patience)
    }

    /// For a thread that waits on several descriptors: readable when the answer begins to come.
    package var number: Int32 { descriptor.number }

    /// Reads the bytes that have come, if there are any. Returns true where they are a whole frame:
    /// then `receive` waits for nothing. A frame of more than 4 KiB is never whole.
    package func readAhead() throws(SocketError) -> Bool { try stream.readAhead() }

    /// False after a fork: the daemon accepts only the process that connected.
    package var belongsToThisProcess: Bool { getpid() == maker }

    /// Ends the connection, also for a thread that waits on it.
    package func shutDown() { Self.shutDown(descriptor) }

    private static func shutDown(_ descriptor: Descriptor) {
        _ = Glibc.shutdown(descriptor.number, Int32(SHUT_RDWR))
    }

    package func peerHungUp() -> Bool { kc_hung_up(descriptor.number) != 0 }

    private static func hello(
        _ descriptor: Descriptor, _ deadline: BootTime
    ) throws(SocketError) -> Hello {
        var hello = [UInt8](repeating: 0, count: Hello.byteCount)
        var count = 0
        while count < hello.count {
            try descriptor.wait(for: POLLIN, until: deadline)
            // Safe: reads into the rest of the array.
            let got = unsafe hello.withUnsafeMutableBytes {
                unsafe recv(descriptor.number, $0.baseAddress! + count, $0.count - count, 0)
            }
            if got == 0 { throw .closed }
            if got < 0, errno != EINTR, errno != EAGAIN { throw .closed }
            count += max(got, 0)
            // A hello of another version may be shorter, and is not waited for.
            if count >= Hello.headBytes { try Hello.checkHead(hello) }
        }
        return try Hello(hello)
    }
}
