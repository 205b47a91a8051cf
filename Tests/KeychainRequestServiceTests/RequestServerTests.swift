// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainKernelKeyring
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainSecrets
import SystemTestSupport
import Testing

/// The public socket, from a program's end.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct RequestServerTests {
    private let server: ServerInMemory

    init() throws { server = try ServerInMemory() }

    private func add(_ name: String, secret bytes: Int = 6) -> Add {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("mail"), .account: .string(name)]
        return Add(item, secret: HeldSecret(String(repeating: "x", count: bytes)), returning: [])
    }

    private var all: CopyMatching {
        var query = ItemQuery(.genericPassword)
        query.limit = 10
        query.returnFields = .data
        return CopyMatching(query)
    }

    /// A message of the program's in other words than it has.
    private func bytes(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var (message, _) = ClientMessage.encode(Status(), context: nil, offersTerminal: false)
        change(&message)
        return message
    }

    /// The daemon's answer to bytes that are no request, and whether the connection is over then.
    private func said(to message: [UInt8]) throws -> (ServerMessage, isOver: Bool) {
        let program = try server.connect()
        try program.send(Frame(message: message, secrets: nil))
        return (try program.hear(), program.isOver)
    }

    private func refusal(_ message: ServerMessage) -> RequestError? {
        if case .refusal(let refusal, _) = message { refusal } else { nil }
    }

    @Test func `a program's requests are answered one after the other on one connection`() throws {
        let program = try server.connect()
        _ = try program.ask(add("a"))
        let found = try program.ask(all)
        #expect(found.count == 1 && found.first?.map { $0.secret?.text } == ["xxxxxx"])
        #expect(throws: RequestError.state(.duplicate)) { _ = try program.ask(add("a")) }
        _ = try program.ask(add("b"))
        #expect(try program.ask(all).first?.count == 2)
        // What another connection of the program made is the program's, too.
        #expect(try server.connect().ask(all).first?.count == 2)
    }

    @Test func `a long answer comes in parts`() throws {
        let program = try server.connect()
        for name in ["a", "b", "c"] { _ = try program.ask(add(name, secret: 200 * 1024)) }
        let parts = try program.ask(all)
        // The last part says that there is no more.
        #expect(parts.map(\.count) == [2, 1, 0])
    }

    @Test func `bytes that are no request are refused, and are the last that is heard`() throws {
        for message in [bytes { $0.removeLast() }, bytes { $0.append(0) }, [0], [0, 2]] {
            let (answer, isOver) = try said(to: message)
            #expect(refusal(answer) == .invalid(.badRequest) && isOver, "\(message)")
        }
    }

    @Test func `each side is told where the other is older`() throws {
        let newer = try said(to: bytes { $0[1] += 1 })
        #expect(refusal(newer.0) == .state(.olderService) && newer.isOver)
        let unknown = try said(
            to: bytes {
                $0[2] = 0xFF
                $0[3] = 0xFF
            })
        #expect(refusal(unknown.0) == .state(.olderService) && unknown.isOver)
        let older = try said(to: bytes { $0[1] -= 1 })
        #expect(refusal(older.0) == .state(.olderProgram) && older.isOver)
        // A program of the first version understands no other words than its own.
        let program = try server.connect()
        try program.send(Frame(message: [8, 1], secrets: nil))
        let answer = try program.receive(.answer, within: .seconds(20))
        #expect(answer.message == ServerMessage.refusalInFirstVersion)
    }

    @Test func `a message that is longer than any request is refused unread`() throws {
        let program = try server.connect()
        let sending = Background {
            // The other end reads none of it.
            try? program.send(
                Frame(message: [UInt8](repeating: 0, count: 1024 * 1024 + 1), secrets: nil))
        }
        #expect(refusal(try program.hear()) == .invalid(.dataTooLarge))
        program.shutDown()
        try sending.value()
    }

    @Test func `only the installed prompter asks users`() throws {
        for message in [
            ClientMessage.registerPrompter(showsWindows: true, on: nil),
            .attachPrompter(challenge: [UInt8](repeating: 0, count: 16)),
        ] {
            let program = try server.connect()
            try program.say(message)
            #expect(refusal(try program.hear()) == .refused(.notEntitled))
            #expect(program.isOver)
        }
    }

    @Test func `an answer to a question that was not asked ends the connection`() throws {
        let program = try server.connect()
        try program.say(.promptReply(HeldSecret("early")))
        #expect(program.isOver)
    }

    @Test(.enabled(if: geteuid() != 0, "root is root whatever the directory says"))
    func `a user without an account is refused`() throws {
        let other = try ServerInMemory { _ in nil }
        let program = try other.connect()
        #expect(throws: RequestError.refused(.notEntitled)) { _ = try program.ask(all) }
    }
}
