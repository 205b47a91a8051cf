// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainLocalSocket

@Suite struct AbstractSocketTests {
    private let name = "keychain-test-\(UUID().uuidString)"

    @Test func `the process that listens is told by the kernel`() throws {
        let path = "\0" + name
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Safe: the name fits.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: path.utf8)
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listening, $0, socklen_t(2 + path.utf8.count))
            }
        }
        #expect(bound == 0 && AbstractSocket.listener(name) == nil)
        #expect(listen(listening, 4) == 0)
        let listener = try #require(AbstractSocket.listener(name))
        #expect(listener.pid == getpid() && listener.user == getuid())
    }

    @Test func `a name that no process has, and one that is too long, have no listener`() {
        #expect(AbstractSocket.listener(name) == nil)
        #expect(AbstractSocket.listener(String(repeating: "x", count: 200)) == nil)
    }
}
