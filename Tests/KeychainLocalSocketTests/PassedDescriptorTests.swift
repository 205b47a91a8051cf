// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

/// A peer's descriptor whose last close takes ten minutes (SO_LINGER): on a kernel that does not
/// refuse it, no thread of ours may be the one that closes it. A socket pair passes descriptors on
/// every kernel.
struct PassedDescriptorTests {
    private let numbers: [Int32]
    private let child: Python

    /// The program sends a byte with the descriptor, closes its own copy and stays.
    init() throws {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw SocketError.system(errno)
        }
        var yes: Int32 = 1
        unsafe setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &yes, 4)
        let ready = try Pipe.make()
        child = try Python(
            """
            import os, socket, struct, time
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            lingering = socket.create_connection(listener.getsockname())
            other, _ = listener.accept()
            lingering.setblocking(False)
            try:
                while True:
                    lingering.send(b"x" * 65536)
            except BlockingIOError:
                pass
            lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
            s = socket.socket(fileno=3)
            socket.send_fds(s, [b"x"], [lingering.fileno()])
            lingering.close()
            os.write(4, b"sent")
            time.sleep(600)
            """, passing: [(source: pair[1], target: 3), (ready.writes.number, 4)])
        close(pair[1])
        numbers = pair
        #expect(Pipe.read(ready.reads, 4) == Array("sent".utf8))
    }

    /// Whether it was done before the program ended, which ends every wait for it.
    private func isPrompt(_ body: @escaping @Sendable () -> Void) throws -> Bool {
        let done = try Pipe.make()
        let work = Background {
            body()
            // Safe: one byte of the array.
            _ = unsafe write(done.writes.number, [1], 1)
        }
        let isPrompt =
            (try? Wait.until(POLLIN, done.reads.number, deadline: .now + .seconds(10))) != nil
        child.end()
        try work.value()
        return isPrompt
    }

    @Test func `one that comes with a message is not taken, and closed without waiting`() throws {
        let number = numbers[0]
        let isPrompt = try isPrompt {
            let descriptor = Descriptor(owning: number) { kc_close_peer($0) }
            let stream = FrameStream(descriptor, sender: .own, nonce: RawFrame.nonce)
            #expect(throws: SocketError.malformed) { try stream.receive(.request, within: nil) }
        }
        #expect(isPrompt)
    }

    @Test func `one that no one has read is closed without waiting`() throws {
        let number = numbers[0]
        #expect(try isPrompt { kc_close_peer(number) })
    }
}
