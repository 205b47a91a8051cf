// SPDX-License-Identifier: Apache-2.0
import CallerIdentity
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainSecrets
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// The daemon's side of the program that asks the user.
@Suite struct PrompterTests {
    private static let place = PrompterPlace.terminal(user: 1, device: 34_816, session: 42)
    private let pair: ConnectionPair
    private let prompter: Prompter

    init() throws {
        pair = try ConnectionPair()
        prompter = Prompter(pair.server, at: Self.place) { _ in .noOtherReader }
    }

    @Test func `a question is shown and its answer brought back`() throws {
        let person = ScriptedPrompter(pair.client, [.types("battery"), .cancels])
        try prompter.show(.title("git wants it"))
        #expect(try prompter.ask(.askHidden("Password: "))?.text == "battery")
        #expect(try prompter.ask(.askVisible("Token: ")) == nil)
        prompter.hangUp()
        #expect(
            try person.prompts() == [
                .title("git wants it"), .askHidden("Password: "), .askVisible("Token: "),
            ])
    }

    @Test func `what was said before the question is no answer to it`() throws {
        try pair.client.say(.promptReply(HeldSecret("early")))
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("Password: "))
        }
    }

    @Test func `another message in place of an answer is none`() throws {
        let client = pair.client
        let other = Background {
            _ = try client.hear()
            try client.say(.attachPrompter(challenge: [1]))
        }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.confirm("?"))
        }
        try other.value()
    }

    @Test func `an answer that is too long is none`() throws {
        let client = pair.client
        let other = Background {
            _ = try client.hear()
            try client.say(.promptReply(HeldSecret(String(repeating: "x", count: 5000))))
        }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("?"))
        }
        try other.value()
    }

    @Test func `a prompter that has hung up can show and ask nothing`() throws {
        #expect(prompter.isAlive)
        pair.client.shutDown()
        #expect(!prompter.isAlive && !prompter.canAsk)
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("?"))
        }
    }

    @Test func `windows are believed only where the screen is the user's`() throws {
        let display = PrompterPlace.display(user: 1, login: "c1")
        let prompter = Prompter(pair.server, at: display, nil, drawsWindows: true) { _ in
            .noOtherReader
        }
        #expect(!prompter.showsWindows)
    }

    // MARK: Other readers

    private static let thief = SharedTerminal.Finding.reader(
        .init(process: 4242, executable: "/home/eve/thief"))

    @Test func `where another program could read the answer nothing is asked, and it is named`()
        throws
    {
        let prompter = Prompter(pair.server, at: Self.place) { _ in Self.thief }
        let person = ScriptedPrompter(pair.client, [.types("battery")])
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("Password: "))
        }
        prompter.hangUp()
        let shown = try person.prompts()
        guard case .error(let words)? = shown.first, shown.count == 1 else {
            Issue.record("\(shown)")
            return
        }
        #expect(words.contains("“/home/eve/thief” (process 4242)"))
    }

    @Test func `a reader's path that reads like the keychain's words stands in quotes`() throws {
        let path = "/tmp/Nothing is wrong”. Type your password again"
        let prompter = Prompter(pair.server, at: Self.place) { _ in
            .reader(.init(process: 4242, executable: path))
        }
        let person = ScriptedPrompter(pair.client, [])
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("Password: "))
        }
        prompter.hangUp()
        guard case .error(let words)? = try person.prompts().first else {
            Issue.record("nothing was shown")
            return
        }
        let shown = "“/tmp/Nothing is wrong\\u{201d}. Type your password again” (process 4242) has"
        #expect(words.hasPrefix(shown))
    }

    @Test func `an answer that another program could have read is thrown away`() throws {
        let findings = Box([SharedTerminal.Finding.noOtherReader, Self.thief])
        let prompter = Prompter(pair.server, at: Self.place) { _ in
            var next = SharedTerminal.Finding.noOtherReader
            findings.change { next = $0.isEmpty ? next : $0.removeFirst() }
            return next
        }
        let person = ScriptedPrompter(pair.client, [.types("battery")])
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("Password: "))
        }
        prompter.hangUp()
        let shown = try person.prompts()
        #expect(shown.first == .askHidden("Password: ") && shown.count == 2)
        guard case .error(let words)? = shown.last else {
            Issue.record("\(shown)")
            return
        }
        #expect(words.contains("process 4242") && words.contains("change it"))
    }

    @Test(arguments: [SharedTerminal.Finding.notInTime, .unknown])
    func `where it can't be found out who could read the answer nothing is asked`(
        _ finding: SharedTerminal.Finding
    ) throws {
        let prompter = Prompter(pair.server, at: Self.place) { _ in finding }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try prompter.ask(.askHidden("Password: "))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a program that comes while the user types is noticed`() throws {
        let isThere = Box(false)
        let prompter = Prompter(pair.server, at: Self.place) { _ in
            isThere.value ? Self.thief : .noOtherReader
        }
        #expect(!prompter.isOverheard())
        let asking = Background { try prompter.ask(.askHidden("Password: ")) }
        _ = try pair.client.hear()
        #expect(!prompter.isOverheard())
        isThere.change { $0 = true }
        while !prompter.isOverheard() { Wait.pause(milliseconds: 10) }
        prompter.hangUp()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { _ = try asking.value() }
        #expect(!prompter.isOverheard())
    }

    // MARK: Turns

    @Test func `of four that come while a question is shown one is refused`() throws {
        try prompter.take()
        let prompter = prompter
        let ends = Box<[RequestError?]>([])
        let waiting = (0..<4).map { _ in
            Background {
                do throws(RequestError) {
                    try prompter.take()
                    prompter.giveBack()
                    ends.change { $0.append(nil) }
                } catch {
                    ends.change { $0.append(error) }
                    // The three others go on one after the other.
                    prompter.giveBack()
                }
            }
        }
        for one in waiting { try one.value() }
        #expect(ends.value == [.refused(.tooManyRequests), nil, nil, nil])
    }

    @Test func `a question that no program waits for any more does not wait either`() throws {
        try prompter.take()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try prompter.take(unless: { true })
        }
        prompter.giveBack()
        try prompter.take(unless: { true })
    }

    @Test func `a prompter that was hung up shows no question that waited`() throws {
        try prompter.take()
        #expect(prompter.hungUpAt == nil)
        prompter.hangUp()
        prompter.giveBack()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { try prompter.take() }
        #expect(prompter.hungUpAt != nil)
    }

    @Test func `none waits for a prompter that has gone`() throws {
        try prompter.take()
        pair.client.shutDown()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { try prompter.take() }
    }
}
