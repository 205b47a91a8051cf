// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import SystemTestSupport
import Testing

@testable import ProgramHandoff

/// The sides of keychaind and of a worker of the starter's socket, with the test at the other end.
/// The peer must be root's, so elsewhere only what needs no peer is tested.
@Suite struct StarterSocketTests {
    private static let presence = ProgramRequest.authentication(
        AuthenticationRequest(
            service: "keychain-presence", account: "alice", asker: nil, user: 1000))

    private let folder: ScratchFolder
    private var path: String { folder("starter.sock") }

    init() throws { folder = try ScratchFolder() }

    private func reply(_ word: UInt16, _ status: UInt16 = 0) -> [UInt8] {
        Array("KCST".utf8) + [
            3, 0, UInt8(word & 0xff), UInt8(word >> 8), UInt8(status & 0xff), UInt8(status >> 8),
            0, 0,
        ]
    }

    /// Lets the body speak with a starter that says the replies one after the other and hangs up.
    private func answered<Result>(
        by replies: [[UInt8]], _ body: (_ path: String) throws -> Result
    ) throws -> Result {
        // One of its own: the thread may have the last listener for a moment yet.
        let path = folder("\(UInt64.random(in: .min ... .max)).sock")
        let listener = try Listener(recordsAt: path, mode: 0o600)
        let server = DetachedThread.start {
            guard let peer = try? listener.accept() else { return }
            var request = [UInt8](repeating: 0, count: 600)
            // Safe: receives at most the array's length, and sends the arrays.
            _ = unsafe recv(peer.number, &request, request.count, 0)
            for bytes in replies { _ = unsafe send(peer.number, bytes, bytes.count, 0) }
        }
        #expect(server)
        defer { withExtendedLifetime(listener) {} }
        return try body(path)
    }

    /// What the first reply became.
    private func started(
        _ replies: [[UInt8]], _ log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> Result<any RunningProgram, StarterError> {
        let (_, there) = try ConversationChannel.pair()
        return try answered(by: replies) { path in
            do throws(StarterError) {
                return .success(
                    try Self.starter(path, log).start(
                        Self.presence, passing: [there.descriptor]))
            } catch { return .failure(error) }
        }
    }

    private static func starter(
        _ path: String, _ log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> StarterSocket {
        StarterSocket(
            connect: { () throws(SocketError) in try RecordConnection(path: path) }, log: log)
    }

    private func error(_ replies: [UInt8]...) throws -> StarterError? {
        if case .failure(let error) = try started(replies) { error } else { nil }
    }

    private static func head(_ program: UInt8, _ user: UInt16) -> [UInt8] {
        Array("KCST".utf8) + [
            3, 0, program, 0, UInt8(user & 0xff), UInt8(user >> 8), 0, 0,
        ]
    }

    @Test func `a question has the header's layout`() throws {
        let bytes = try StartRecord.bytes(of: Self.presence)
        #expect(bytes.count == 572)
        #expect(bytes.prefix(12) == Self.head(1, 1000)[...])
        #expect(bytes[12...].starts(with: "keychain-presence\0".utf8))
        #expect(bytes[60...].starts(with: "alice\0".utf8) && bytes[316...].allSatisfy { $0 == 0 })
    }

    @Test func `so have requests for other programs`() throws {
        let file = ProgramRequest.keychainFile(seconds: 1054, user: 1000)
        #expect(try StartRecord.bytes(of: file) == Self.head(2, 1000) + [0x1e, 4, 0, 0])
        let policies = try StartRecord.bytes(of: .policies(folders: ["/usr/a", "/etc/b"]))
        #expect(policies.count == 4108 && policies.prefix(12) == Self.head(3, 0)[...])
        #expect(policies[12...].starts(with: "/usr/a\0/etc/b\0\0".utf8))
        let seal = ProgramRequest.tpm(.seal(registers: [7, 11, 7]), user: 1000)
        #expect(
            try StartRecord.bytes(of: seal)
                == Self.head(4, 1000) + [1, 0, 0, 0, 0x80, 8, 0, 0])
        #expect(
            try StartRecord.bytes(of: .tpm(.open, user: 0))
                == Self.head(4, 0) + [2, 0, 0, 0, 0, 0, 0, 0])
        #expect(
            try StartRecord.bytes(of: .securityKey(.make, user: 1000))
                == Self.head(5, 1000) + [1, 0, 0, 0])
        #expect(
            try StartRecord.bytes(of: .securityKey(.open, user: 1000))
                == Self.head(5, 1000) + [2, 0, 0, 0])
    }

    @Test func `so have what binds a connection, gives folders away and ends a worker`() throws {
        #expect(try StartRecord.bind(1000) == Self.head(6, 1000))
        #expect(try StartRecord.bind(0) == Self.head(6, 0))
        #expect(
            try StartRecord.adopt(user: 1000, number: 0x7b00_0007)
                == Self.head(7, 1000) + [7, 0, 0, 0x7b])
        #expect(
            try StartRecord.end(user: 1000, number: 0x7b00_0007)
                == Self.head(8, 1000) + [7, 0, 0, 0x7b])
        #expect(throws: StarterError.badRequest) { try StartRecord.bind(.max) }
        for number: UInt32 in [0, 1000, 0x7aff_ffff, 0x7b01_0000, .max] {
            #expect(throws: StarterError.badRequest) {
                try StartRecord.adopt(user: 1000, number: number)
            }
            #expect(throws: StarterError.badRequest) {
                try StartRecord.end(user: 1000, number: number)
            }
        }
    }

    @Test(arguments: ["", "al\u{0}ice", "al\nice", String(repeating: "a", count: 256)])
    func `a name that the record can't hold is not shortened`(_ name: String) {
        let request = AuthenticationRequest(
            service: "keychain-presence", account: name, asker: nil, user: 1000)
        #expect(throws: StarterError.badRequest) {
            try StartRecord.bytes(of: .authentication(request))
        }
    }

    @Test(arguments: [
        ProgramRequest.keychainFile(seconds: 0, user: 0),
        .policies(folders: ["relative"]), .policies(folders: ["/a\u{0}b"]),
        .policies(folders: ["/" + String(repeating: "a", count: 511)]),
        .policies(folders: [String](repeating: "/a", count: 9)),
        .tpm(.seal(registers: [24]), user: 0), .securityKey(.make, user: .max),
    ])
    func `what the record can't hold is refused`(_ request: ProgramRequest) {
        #expect(throws: StarterError.badRequest) { try StartRecord.bytes(of: request) }
    }

    @Test func `eight folders with the longest paths are a request`() throws {
        let folder = "/" + String(repeating: "a", count: 510)
        let folders = [String](repeating: folder, count: 8)
        #expect(try StartRecord.bytes(of: .policies(folders: folders)).count == 4108)
    }

    @Test func `what is not there does not answer`() throws {
        let (_, there) = try ConversationChannel.pair()
        #expect(throws: StarterError.notAnswering) {
            try Self.starter(path).start(Self.presence, passing: [there.descriptor])
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `each refusal is told apart, and what is no reply is none`() throws {
        #expect(try error(reply(0x8004)) == .noService)
        #expect(try error(reply(0x8005)) == .busy)
        #expect(try error(reply(0x8006)) == .failed)
        #expect(try error(reply(0x8007)) == .notInstalled)
        #expect(try error(reply(0x8008)) == .notAnswering)
        for other: UInt16 in [0x8001, 0x8002, 0x8003, 2, 3, 7] {
            #expect(try error(reply(other)) == .notAnswering)
        }
        #expect(try error(Array(reply(1).dropLast())) == .notAnswering)
        #expect(try error(reply(1) + [0]) == .notAnswering)
        #expect(try error() == .notAnswering)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `an end that was said is another than one that was not`() throws {
        let ended = try started([reply(1), reply(2, 80)]).get()
        #expect(ended.state(withinSeconds: 10) == .ended(ExitStatus(code: 80)))
        #expect(ended.state(withinSeconds: 0) == .ended(ExitStatus(code: 80)))
        let killed = try started([reply(1), reply(2, 256)]).get()
        #expect(killed.state(withinSeconds: 10) == .ended(ExitStatus(code: nil)))
        let lost = try started([reply(1)]).get()
        #expect(lost.state(withinSeconds: 10) == .lost)
        #expect(lost.state(withinSeconds: 0) == .lost)
    }

    @Test func `a connection is a user's where the starter says done`() {
        #expect(StarterBinding.request(1000) == Self.head(6, 1000))
        #expect(StarterBinding.request(.max).isEmpty)
        #expect(StarterBinding.isDone(reply(3)))
        for other: UInt16 in [1, 2, 0x8001, 0x8003, 0x8005] {
            #expect(!StarterBinding.isDone(reply(other)))
        }
        #expect(!StarterBinding.isDone([]) && !StarterBinding.isDone(reply(3) + [0]))
    }

    private func adopted(_ number: UInt32, _ replies: [UInt8]...) throws -> StarterError? {
        let (one, other) = try SocketPair.ofRecords()
        return try answered(by: replies) { path in
            do throws(StarterError) {
                try UnboundStarter(path: path) { _ in }.adopt(
                    1000, number, state: one, runtime: other)
            } catch { return error }
            return nil
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `folders are a number's where the starter says done`() throws {
        #expect(try adopted(0x7b00_0007, reply(3)) == nil)
        #expect(try adopted(0x7b00_0007, reply(0x8006)) == .failed)
        #expect(try adopted(0x7b00_0007, reply(0x8008)) == .failed)
        #expect(try adopted(0x7b00_0007, reply(0x8003)) == .notAnswering)
        #expect(try adopted(0x7b00_0007) == .notAnswering)
    }

    private func ended(_ replies: [UInt8]...) throws -> StarterError? {
        let (process, _) = try SocketPair.ofRecords()
        return try answered(by: replies) { path in
            do throws(StarterError) {
                try UnboundStarter(path: path) { _ in }.end(process, of: 1000, 0x7b00_0007)
            } catch { return error }
            return nil
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func `a worker has been told to end where the starter says done`() throws {
        #expect(try ended(reply(3)) == nil)
        #expect(try ended(reply(0x8006)) == .failed)
        #expect(try ended(reply(0x8001)) == .notAnswering)
        #expect(try ended() == .notAnswering)
    }
}
