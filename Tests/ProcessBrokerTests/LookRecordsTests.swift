// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import KeychainModel
import Testing

@testable import ProcessBroker

/// What keychaind, its workers and keychain-broker say to each other.
@Suite struct LookRecordsTests {
    private static let requests: [LookRequest] = [
        .program, .path(4242), .path(-1), .executable, .sandboxFile,
        .otherReader(device: .max, session: 42, user: 1000), .bind(user: 0), .bind(user: .max),
    ]
    private static let replies: [LookReply] = [
        .nothing, .file, .path("/usr/bin/git"), .path(""), .finding(.noOtherReader),
        .finding(.notInTime), .finding(.unknown), .bound,
        .finding(.reader(.init(process: 7, executable: "/tmp/thief"))),
        .finding(.reader(.init(process: 7, executable: nil))),
        .program(.init()),
        .program(.init(path: "/home/a/“x”", rights: .missing, hasImage: true)),
        .program(
            .init(
                path: "/usr/bin/git",
                executable: ExecutableFacts(path: "/usr/bin/git", device: .max, inode: 1),
                isAtItsPath: true, isTrusted: true, isInOurNamespaces: true, rights: .none,
                hasImage: true)),
    ]

    @Test(arguments: requests) func `a request is read as it was written`(_ request: LookRequest)
        throws
    {
        let bytes = request.bytes
        #expect(bytes.count == LookRequest.byteCount)
        #expect(try LookRequest(bytes) == request)
    }

    @Test(arguments: replies) func `a reply is read as it was written`(_ reply: LookReply) throws {
        #expect(try LookReply(reply.bytes) == reply)
    }

    @Test func `keychaind reads of the replies only whether a connection is bound`() throws {
        #expect(try LookRequest(BrokerBinding.request(1000)) == .bind(user: 1000))
        for reply in Self.replies {
            #expect(BrokerBinding.isDone(reply.bytes) == (reply == .bound))
        }
        #expect(!BrokerBinding.isDone([]))
    }

    /// A changed byte makes another request or none, never the same one in two forms.
    @Test func `a record is written in one way only`() {
        for request in Self.requests {
            for place in request.bytes.indices {
                for change: UInt8 in [1, 0x80, 0xFF] {
                    var bytes = request.bytes
                    bytes[place] ^= change
                    if let read = try? LookRequest(bytes) { #expect(read.bytes == bytes) }
                }
            }
        }
        for reply in Self.replies {
            for place in reply.bytes.indices {
                var bytes = reply.bytes
                bytes[place] ^= 0xFF
                if let read = try? LookReply(bytes) { #expect(read.bytes == bytes) }
            }
        }
    }

    @Test func `records that are shorter, longer or of another version are none`() {
        for bytes in Self.requests.map(\.bytes) {
            #expect(throws: MalformedBytes.self) { _ = try LookRequest(bytes + [0]) }
            #expect(throws: MalformedBytes.self) { _ = try LookRequest(Array(bytes.dropLast())) }
            var other = bytes
            other[4] = 2
            #expect(throws: MalformedBytes.self) { _ = try LookRequest(other) }
        }
        for bytes in Self.replies.map(\.bytes) {
            #expect(throws: MalformedBytes.self) { _ = try LookReply(bytes + [0]) }
            #expect(throws: MalformedBytes.self) { _ = try LookReply(Array(bytes.dropLast())) }
        }
    }

    @Test func `a path longer than the kernel's is none`() {
        let reply = LookReply.path(String(repeating: "x", count: 5000))
        #expect(throws: MalformedBytes.self) { _ = try LookReply(reply.bytes) }
    }
}
