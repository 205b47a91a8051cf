// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainSecrets
import Testing

@testable import LoginHandoff

/// Both ends of a connection; closes what is still open.
private final class Ends {
    let ours: Descriptor
    private(set) var theirs: Int32

    init() {
        var pair: [Int32] = [-1, -1]
        let made = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair)
        precondition(made == 0)
        ours = Descriptor(owning: pair[0])
        theirs = pair[1]
    }

    func say(_ bytes: [UInt8]) {
        #expect(unsafe write(theirs, bytes, bytes.count) == bytes.count)
    }

    func hangUp() {
        close(theirs)
        theirs = -1
    }

    func heard() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(theirs, &bytes, bytes.count)
        return Array(bytes.prefix(max(count, 0)))
    }

    func receive() -> Result<LoginRequest, LoginHandoffError> {
        Result { () throws(LoginHandoffError) in try LoginConnection(ours).receive() }
    }

    deinit {
        if theirs >= 0 { close(theirs) }
    }
}

@Suite struct LoginConnectionTests {
    private func error(_ result: Result<LoginRequest, LoginHandoffError>) -> LoginHandoffError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test func `the peer is whom the kernel says`() throws {
        let ends = Ends()
        defer { ends.hangUp() }
        let connection = try LoginConnection(ends.ours)
        #expect(connection.peerUser == geteuid())
        #expect(connection.peerProcess == getpid())
    }

    @Test func `what is no socket has no peer`() {
        let file = Descriptor(owning: unsafe open("/dev/null", O_RDONLY))
        #expect(throws: LoginHandoffError.system(ENOTSOCK)) { _ = try LoginConnection(file) }
    }

    @Test func `a request is answered`() throws {
        let ends = Ends()
        ends.say(Frames.offer.bytes)
        let connection = try LoginConnection(ends.ours)
        guard case .offerPassword(1000, "alice", let password) = try connection.receive() else {
            Issue.record("another request")
            return
        }
        #expect(password.bytes.releasedFromLockedMemory() == Array("right".utf8))
        try connection.reply(.refused(.wrongPassword))
        #expect(
            ends.heard() == Frames.header(0x4c46_434b, 1, 0x8002, 2) + Frames.little(UInt16(1)))
    }

    @Test func `whom a request is about, and whether for a number, is seen and left to be read`()
        throws
    {
        for (frame, asks) in [(Frames.number, true), (.close, false)] {
            let ends = Ends()
            ends.say(frame.bytes)
            let beginning = try #require(LoginConnection.beginning(in: ends.ours))
            #expect(beginning.user == 1000 && beginning.asksForNumber == asks)
            #expect(try LoginConnection(ends.ours).receive().user == 1000)
        }
        let ends = Ends()
        ends.hangUp()
        #expect(LoginConnection.beginning(in: ends.ours) == nil)
    }

    @Test func `a peer that hangs up within a frame has closed`() {
        for count in [0, 1, 11, 12, 30] {
            let ends = Ends()
            ends.say(Array(Frames.offer.bytes.prefix(count)))
            ends.hangUp()
            #expect(error(ends.receive()) == .closed)
        }
    }

    /// Refused although the peer neither sends more nor hangs up: nothing was waited for.
    @Test func `a header that lies about its length is refused at once`() {
        for announced in [UInt32(4085), 0x7fff_ffff, .max] {
            let ends = Ends()
            var frame = Frames.offer
            frame.announced = announced
            ends.say(Array(frame.bytes.prefix(12)))
            #expect(error(ends.receive()) == .tooLong)
        }
    }

    @Test func `a header of another version is refused at once, whatever it announces`() {
        let ends = Ends()
        var frame = Frames.offer
        frame.version = 2
        frame.announced = .max
        ends.say(Array(frame.bytes.prefix(12)))
        #expect(error(ends.receive()) == .newer)
    }

    @Test func `a body shorter than its fields is malformed`() {
        let ends = Ends()
        var frame = Frames.offer
        frame.announced = 20
        ends.say(frame.bytes)
        #expect(error(ends.receive()) == .malformed)
    }

    @Test func `a peer that says half is given up`() {
        let ends = Ends()
        ends.say(Array(Frames.offer.bytes.prefix(40)))
        let clock = ContinuousClock()
        var result: LoginHandoffError?
        let elapsed = clock.measure { result = error(ends.receive()) }
        #expect(result == .timedOut)
        #expect(elapsed >= LoginConnection.timeout)
    }

    @Test func `a peer that is gone does not get an answer, nor end the daemon`() throws {
        let ends = Ends()
        // Its end of the connection must outlive ours.
        defer { withExtendedLifetime(ends) {} }
        let connection = try LoginConnection(ends.ours)
        ends.hangUp()
        #expect(throws: LoginHandoffError.closed) { try connection.reply(.accepted) }
    }

    @Test func `random bytes from a peer end in an error`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let ends = Ends()
            let count = Int.random(in: 0...64, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Half of them get past the header.
            if Bool.random(using: &random) {
                let verb = UInt16.random(in: 1...4, using: &random)
                bytes = Frames.header(0x4c46_434b, 1, verb, UInt32(count)) + bytes
            }
            ends.say(bytes)
            ends.hangUp()
            #expect(error(ends.receive()) != nil)
        }
    }
}
