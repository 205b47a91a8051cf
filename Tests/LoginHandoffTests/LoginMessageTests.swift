// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import Testing

@testable import LoginHandoff

@Suite struct LoginMessageTests {
    private func read(_ bytes: [UInt8]) throws(LoginHandoffError) -> LoginRequest {
        try LoginMessage.request(in: SecretBytes(copying: bytes))
    }

    private func failure(_ bytes: [UInt8]) -> LoginHandoffError? {
        do throws(LoginHandoffError) { _ = try read(bytes) } catch { return error }
        return nil
    }

    private func text(_ secret: HeldSecret?) -> String? {
        secret.map { String(decoding: $0.bytes.releasedFromLockedMemory(), as: UTF8.self) }
    }

    @Test func `an opened session carries the host's facts and the password`() throws {
        var frame = Frames.open("correct horse")
        frame.flags |= 1
        guard case .openSession(let facts, let password) = try read(frame.bytes) else {
            Issue.record("another verb")
            return
        }
        #expect(
            facts
                == SessionFacts(
                    user: 1000, account: "alice", ticket: 0x1234_5678, leader: 4321,
                    auditSession: 7, service: "sshd", logindSession: "c1",
                    isRemote: true))
        #expect(!facts.isSilent)
        #expect(text(password) == "correct horse")
    }

    @Test func `no password and an empty password are two things`() throws {
        guard case .openSession(_, let none) = try read(Frames.open(nil).bytes),
            case .openSession(_, let empty) = try read(Frames.open("").bytes)
        else {
            Issue.record("another verb")
            return
        }
        #expect(none == nil)
        #expect(empty?.bytes.count == 0)
    }

    @Test func `what a host does not know is absent`() throws {
        var frame = Frames.open(nil)
        frame.audit = .max
        frame.texts[3] = []
        guard case .openSession(let facts, _) = try read(frame.bytes) else {
            Issue.record("another verb")
            return
        }
        #expect(facts.auditSession == nil)
        #expect(facts.logindSession == nil)
        #expect(!facts.isRemote)
    }

    @Test func `a host that wants silence says so`() throws {
        var frame = Frames.open(nil)
        frame.flags |= 8
        guard case .openSession(let facts, _) = try read(frame.bytes) else {
            Issue.record("another verb")
            return
        }
        #expect(facts.isSilent)
    }

    @Test func `a host that saw the user authenticated says so, of a session's beginning alone`()
        throws
    {
        var frame = Frames.open(nil)
        frame.flags |= 16
        guard case .openSession(let facts, let password) = try read(frame.bytes) else {
            Issue.record("another verb")
            return
        }
        #expect(facts.isAuthenticated && password == nil)
        #expect(failure(Frames(verb: 2, flags: 16).bytes) == .malformed)
    }

    @Test func `a reset names the account and carries no password`() throws {
        guard case .resetPassword(1000, "alice") = try read(Frames(verb: 5).bytes) else {
            Issue.record("another verb")
            return
        }
        #expect(
            failure(Frames(verb: 5, flags: 4, passwords: [[], [65]]).bytes) == .malformed)
    }

    @Test func `a question for a number has a user and nothing else`() throws {
        guard case .number(1000) = try read(Frames.number.bytes) else {
            Issue.record("another verb")
            return
        }
        var frame = Frames.number
        frame.texts[0] = [97]
        #expect(failure(frame.bytes) == .malformed)
        frame = .number
        frame.ticket = 1
        #expect(failure(frame.bytes) == .malformed)
        #expect(failure(Frames(verb: 6).bytes) == .malformed)
        #expect(LoginMessage.asksForNumber(Array(Frames.number.bytes.prefix(16))))
        #expect(!LoginMessage.asksForNumber(Frames.close.bytes))
        #expect(!LoginMessage.asksForNumber(Array(Frames.number.bytes.prefix(11))))
        for verb: UInt16 in [0x0106, 0x8004] {
            #expect(!LoginMessage.asksForNumber(Frames(verb: verb).bytes))
        }
    }

    @Test func `a closed session, an offer and a change keep their words apart`() throws {
        guard case .closeSession(let ticket, let closer) = try read(Frames.close.bytes),
            case .offerPassword(let offerer, let name, let offered) = try read(Frames.offer.bytes),
            case .changePassword(_, _, let old, let new) = try read(Frames.change.bytes)
        else {
            Issue.record("another verb")
            return
        }
        #expect(ticket == 0x1234_5678)
        #expect(closer == 1000)
        #expect(offerer == 1000)
        #expect(name == "alice")
        #expect(text(offered) == "right")
        #expect(text(old) == "old one")
        #expect(text(new) == "new one")
    }

    @Test func `a frame cut at any byte is refused`() {
        for frame in [Frames.open("secret"), .close, .offer, .change, .number] {
            for count in 0..<frame.bytes.count {
                #expect(failure(Array(frame.bytes.prefix(count))) != nil)
            }
            #expect(failure(frame.bytes) == nil)
            #expect(failure(frame.bytes + [0]) == .malformed)
        }
    }

    @Test func `another protocol is foreign, and another version is not`() {
        var frame = Frames.close
        frame.magic ^= 1
        #expect(failure(frame.bytes) == .foreign)
        frame = .close
        frame.version = 2
        #expect(failure(frame.bytes) == .newer)
        frame.version = 0
        #expect(failure(frame.bytes) == .foreign)
    }

    @Test func `a module hears which side is older, and what was wrong with its words`() {
        let answers: [(LoginHandoffError, LoginRefusal?)] = [
            (.newer, .olderService), (.older, .olderModule), (.malformed, .badRequest),
            (.tooLong, .badRequest), (.foreign, nil), (.closed, nil), (.timedOut, nil),
        ]
        for (error, refusal) in answers { #expect(LoginRefusal(error) == refusal) }
    }

    @Test func `a reply is no request`() {
        #expect(failure(LoginMessage.bytes(of: .accepted)) == .malformed)
        #expect(failure(LoginMessage.bytes(of: .refused(.busy))) == .malformed)
        #expect(failure(LoginMessage.bytes(of: .number(7))) == .malformed)
        #expect(
            failure(LoginMessage.bytes(of: .acceptedWithNotice(.passwordDiffers))) == .malformed)
    }

    @Test(arguments: [
        ("an unknown verb", Frames(verb: 9)),
        ("an unknown flag", Frames(verb: 1, flags: 32)),
        ("a password without its flag", Frames(verb: 1, passwords: [[65], []])),
        ("a password where none belongs", Frames(verb: 2, flags: 2, passwords: [[65], []])),
        ("an offer without a password", Frames(verb: 3)),
        ("a change without the old password", Frames(verb: 4, flags: 4, passwords: [[], [65]])),
        ("no account", Frames(verb: 2, texts: [[], [], [], []])),
        ("a zero byte", Frames(verb: 2, texts: [[97, 0, 98], [], [], []])),
        ("a second line", Frames(verb: 2, texts: [[97], [], [], [98, 10]])),
        ("half a character", Frames(verb: 2, texts: [[0xc3], [], [], []])),
    ])
    func `what no honest host writes is malformed`(_ why: String, _ frame: Frames) {
        #expect(failure(frame.bytes) == .malformed, "\(why)")
    }

    @Test func `a field over its limit is too long`() {
        var frame = Frames.close
        frame.texts[0] = [UInt8](repeating: 97, count: 256)
        #expect(failure(frame.bytes) == .tooLong)
        frame = .offer
        frame.passwords[0] = [UInt8](repeating: 97, count: 1024)
        #expect(failure(frame.bytes) == .tooLong)
    }

    @Test func `replies are what the module expects`() {
        #expect(LoginMessage.bytes(of: .accepted) == Frames.header(0x4c46_434b, 1, 0x8001, 0))
        for (number, told) in [(UInt32(0x7b00_0007), UInt32(0x7b00_0007)), (0, 0), (.max, 0)] {
            #expect(
                LoginMessage.bytes(of: .number(number))
                    == Frames.header(0x4c46_434b, 1, 0x8004, 4) + Frames.little(told))
        }
        for notice in LoginNotice.allCases {
            #expect(
                LoginMessage.bytes(of: .acceptedWithNotice(notice))
                    == Frames.header(0x4c46_434b, 1, 0x8003, 2) + Frames.little(notice.rawValue))
        }
        for refusal in LoginRefusal.allCases {
            #expect(
                LoginMessage.bytes(of: .refused(refusal))
                    == Frames.header(0x4c46_434b, 1, 0x8002, 2) + Frames.little(refusal.rawValue))
        }
    }

    @Test func `random bytes never pass for a request, nor break anything`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...200, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(failure(bytes) != nil)
        }
    }

    @Test func `a request with one byte changed is read or refused, never half read`() throws {
        let whole = Frames.change.bytes
        for index in whole.indices {
            for change in [UInt8(1), 0x80, 0xff] {
                var bytes = whole
                bytes[index] ^= change
                guard case .changePassword(_, let account, let old, let new) = try? read(bytes)
                else { continue }
                #expect(account.utf8.count + old.bytes.count + new.bytes.count <= whole.count)
            }
        }
    }
}
