// SPDX-License-Identifier: Apache-2.0
import AccountDatabase
import CallerIdentity
import KeychainMessages
import KeychainModel
import KeychainPolicyModel
import KeychainSecrets
import KeychainUserPresence
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// Questions to a user, from the program that asks to the answer that counts.
@Suite struct PromptedAuthenticatorTests {
    private static let question = Question(.read, names: ["mail"], itemCount: 1, reason: nil)
    private static let title = "/usr/bin/git wants to read the keychain item “mail”."
    private let registry = PrompterRegistry()

    private func authenticator(
        _ words: String = PAMScript.failure
    ) throws -> (PromptedAuthenticator, PAMScript) {
        let script = try PAMScript(words)
        let authenticator = PromptedAuthenticator(
            starter: script, prompters: registry, accounts: AccountNames { _ in "alice" },
            biometry: { _ in [] })
        return (authenticator, script)
    }

    private func refusal(_ body: () throws(RequestError) -> Void) -> RequestError? {
        do throws(RequestError) {
            try body()
            return nil
        } catch { return error }
    }

    // MARK: Where

    @Test func `a program is asked about on its own terminal, by a prompter for that question`()
        throws
    {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(registry, [.types("battery")])
        #expect(authenticator.canAsk(for: program))
        let typed = try authenticator.ask("Older password: ", Self.question, for: program)
        #expect(typed.text == "battery")
        #expect(
            try program.shown() == [
                [.title(Self.title), .askHidden("Older password: "), .finished(succeeded: true)]
            ])
    }

    @Test func `with neither a terminal nor a prompter no question can be asked`() throws {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(registry, offersTerminal: false)
        #expect(!authenticator.canAsk(for: program))
        #expect(!authenticator.hasPrompter(for: program.caller))
        let said = refusal { () throws(RequestError) in
            _ = try authenticator.ask("?", Self.question, for: program)
        }
        #expect(said == .refused(.interactionNotAllowed) && program.prompters == 0)
    }

    @Test func `a prompter on another terminal does not come in its place`() throws {
        let (authenticator, _) = try authenticator()
        let elsewhere = PrompterPlace.terminal(user: 1000, device: 34_816, session: 43)
        let program = ProgramOnTerminal(registry, [.types("x")], at: elsewhere)
        let said = refusal { () throws(RequestError) in
            _ = try authenticator.ask("?", Self.question, for: program)
        }
        #expect(said == .refused(.interactionNotAllowed) && program.prompters == 0)
    }

    @Test func `a yes that is typed on a terminal proves nothing`() throws {
        let (authenticator, _) = try authenticator(PAMScript.success)
        let program = ProgramOnTerminal(registry, [.types("")])
        #expect(!authenticator.provable(for: program.caller).contains(.factor(.confirm)))
        let said = refusal { () throws(RequestError) in
            try authenticator.prove(.factor(.confirm), Self.question, for: program)
        }
        #expect(said == .refused(.interactionNotAllowed))
    }

    // MARK: Proofs

    @Test func `a proof is what PAM says of what was typed`() throws {
        let (authenticator, script) = try authenticator(PAMScript.password)
        let program = ProgramOnTerminal(registry, [.types("battery")])
        try authenticator.prove(.factor(.presence), Self.question, for: program)
        #expect(
            try program.shown() == [
                [.title(Self.title), .askHidden("Password: "), .finished(succeeded: true)]
            ])
        withExtendedLifetime(script) {}
    }

    @Test func `a wrong password is no proof, and the next question waits`() throws {
        let (authenticator, script) = try authenticator(PAMScript.password)
        let program = ProgramOnTerminal(registry, [.types("wrong")])
        func prove() -> RequestError? {
            refusal { () throws(RequestError) in
                try authenticator.prove(.factor(.presence), Self.question, for: program)
            }
        }
        #expect(prove() == .refused(.authenticationFailed))
        #expect(try program.shown().first?.last == .finished(succeeded: false))
        program.answers(.types("battery"))
        #expect(prove() == .refused(.tooManyRequests))
        #expect(program.prompters == 1)
        withExtendedLifetime(script) {}
    }

    // MARK: Approvals

    private static let approvalScript = #"""
        [ "$1 $4 $#" = 'keychain-approval alice 4' ] || exit 1
        """# + "\n" + PAMScript.password

    private func approve(
        _ names: [String], _ authenticator: PromptedAuthenticator, _ program: ProgramOnTerminal
    ) -> (name: String?, refusal: RequestError?) {
        var name: String?
        let said = refusal { () throws(RequestError) in
            name = try authenticator.approval(by: names, Self.question, for: program)
        }
        return (name, said)
    }

    @Test func `another person approves on the asker's terminal, after the name`() throws {
        let (authenticator, script) = try authenticator(Self.approvalScript)
        let program = ProgramOnTerminal(registry, [.types("eve"), .types("battery")])
        #expect(approve(["bob", "eve"], authenticator, program).name == "eve")
        let asked =
            Self.title
            + "\nIt takes the approval of another person than alice: bob, eve."
        #expect(
            try program.shown() == [
                [
                    .title(asked), .askVisible("Who approves (bob, eve): "),
                    .title(asked + "\nTo approve it, eve proves who that is."),
                    .askHidden("Password: "), .finished(succeeded: true),
                ]
            ])
        withExtendedLifetime(script) {}
    }

    @Test func `where one person may approve no name is asked for`() throws {
        let (authenticator, script) = try authenticator(Self.approvalScript)
        let program = ProgramOnTerminal(registry, [.types("battery")])
        #expect(approve(["bob"], authenticator, program).name == "bob")
        withExtendedLifetime(script) {}
    }

    /// PAM would say yes: it is the service that refuses.
    @Test(arguments: [["alice"], ["alice", "bob"]])
    func `the asker approves nothing, whatever was asked`(_ names: [String]) throws {
        let (authenticator, script) = try authenticator(PAMScript.success)
        let program = ProgramOnTerminal(registry, [.types("alice")])
        let said = approve(names, authenticator, program)
        #expect(said.name == nil && said.refusal == .refused(.authenticationFailed))
        withExtendedLifetime(script) {}
    }

    @Test(arguments: ["root", "", "bob "])
    func `who is not named approves nothing, and it counts as a guess`(_ typed: String) throws {
        let (authenticator, script) = try authenticator(PAMScript.success)
        let program = ProgramOnTerminal(registry, [.types(typed)])
        let said = approve(["bob", "eve"], authenticator, program)
        #expect(said.name == nil && said.refusal == .refused(.authenticationFailed))
        program.answers(.types("bob"))
        #expect(
            approve(["bob", "eve"], authenticator, program).refusal == .refused(.tooManyRequests))
        withExtendedLifetime(script) {}
    }

    @Test func `a wrong password of another person's is no approval, and is a guess`() throws {
        let (authenticator, script) = try authenticator(Self.approvalScript)
        let program = ProgramOnTerminal(registry, [.types("wrong")])
        #expect(
            approve(["bob"], authenticator, program).refusal == .refused(.authenticationFailed))
        program.answers(.types("battery"))
        #expect(approve(["bob"], authenticator, program).refusal == .refused(.tooManyRequests))
        withExtendedLifetime(script) {}
    }

    @Test func `a user who cancels has proven nothing, nor guessed`() throws {
        let (authenticator, script) = try authenticator(PAMScript.password)
        let program = ProgramOnTerminal(registry, [.cancels])
        let said = refusal { () throws(RequestError) in
            try authenticator.prove(.factor(.presence), Self.question, for: program)
        }
        #expect(said == .refused(.cancelled))
        withExtendedLifetime(script) {}
    }

    @Test func `what PAM does not prove is refused, and so is a user without an account`() throws {
        let (authenticator, _) = try authenticator(PAMScript.success)
        let program = ProgramOnTerminal(registry)
        #expect(
            refusal { () throws(RequestError) in
                try authenticator.prove(.factor(.appPassword), Self.question, for: program)
            } == .refused(.authenticationFailed))
        let without = PromptedAuthenticator(
            starter: try PAMScript("exit 0"), prompters: registry,
            accounts: AccountNames { _ in nil }, biometry: { _ in [] })
        #expect(
            refusal { () throws(RequestError) in
                try without.prove(.factor(.presence), Self.question, for: program)
            } == .refused(.authenticationFailed))
        #expect(program.prompters == 0)
        #expect(without.enrolledBiometry(of: program.caller).isEmpty)
    }

    // MARK: Opening a keychain

    private static let opening = Question(
        .openKeychain, names: ["login"], itemCount: 0, reason: nil)

    @Test func `a user has three tries to open a keychain`() throws {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(
            registry, [.types("a"), .types("b"), .types("c"), .types("right")])
        var tries: [String] = []
        let said = refusal { () throws(RequestError) in
            try authenticator.open(
                "Older password: ", Self.opening, for: program, unless: { false }
            ) { typed throws(RequestError) in
                tries.append(typed.text)
                return typed.text == "right"
            }
        }
        #expect(said == .refused(.authenticationFailed) && tries == ["a", "b", "c"])
        let shown = try #require(try program.shown().first)
        #expect(shown.filter { $0 == .askHidden("Older password: ") }.count == 3)
        #expect(shown.last == .finished(succeeded: false))
    }

    @Test func `a keychain that was opened meanwhile is not asked about`() throws {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(registry)
        try authenticator.open("?", Self.opening, for: program, unless: { true }) { _ in
            Issue.record("nothing was to be typed")
            return false
        }
        #expect(try program.shown() == [[.finished(succeeded: true)]])
    }

    @Test func `why a keychain does not open reaches the program that asks`() throws {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(registry, [.types("x")])
        let said = refusal { () throws(RequestError) in
            try authenticator.open("?", Self.opening, for: program, unless: { false }) {
                _ throws(RequestError) in throw .failed(.damaged)
            }
        }
        #expect(said == .failed(.damaged))
    }

    // MARK: Another program's item

    private var options: ConsentOptions {
        var options = ConsentOptions()
        options.proofs[.once] = [.factor(.presence)]
        return options
    }

    private func consent(
        _ authenticator: PromptedAuthenticator, _ program: ProgramOnTerminal
    ) throws(RequestError) -> ConsentResult? {
        try authenticator.consent(for: program) { (Self.question, options) }
    }

    @Test func `what a user allows on a terminal takes a proof`() throws {
        let (authenticator, script) = try authenticator(PAMScript.password)
        let program = ProgramOnTerminal(
            registry, [.types(TrustChoice.once.rawValue), .types("battery")])
        let result = try consent(authenticator, program)
        #expect(result?.choice == .once && result?.proven == [.factor(.presence)])
        let shown = try #require(try program.shown().first)
        #expect(shown.contains(.choose([.deny, .once])))
        #expect(shown.last == .finished(succeeded: true))
        withExtendedLifetime(script) {}
    }

    @Test(arguments: [
        (ScriptedPrompter.Reply.types("deny"), RequestError.refused(.cancelled)),
        (.cancels, .refused(.cancelled)),
        (.leaves, .refused(.cancelled)), (.types("always"), .refused(.cancelled)),
        (.types("yes"), .refused(.cancelled)), (.types("everything"), .refused(.cancelled)),
    ])
    func `a no, an answer that was not offered and silence are a no`(
        _ reply: ScriptedPrompter.Reply, _ expected: RequestError
    ) throws {
        let (authenticator, script) = try authenticator(PAMScript.success)
        let program = ProgramOnTerminal(registry, [reply])
        let said = refusal { () throws(RequestError) in _ = try consent(authenticator, program) }
        #expect(said == expected)
        withExtendedLifetime(script) {}
    }

    @Test func `a yes without its proof is none`() throws {
        let (authenticator, script) = try authenticator(PAMScript.password)
        let program = ProgramOnTerminal(
            registry, [.types(TrustChoice.once.rawValue), .types("wrong")])
        let said = refusal { () throws(RequestError) in _ = try consent(authenticator, program) }
        #expect(said == .refused(.authenticationFailed))
        withExtendedLifetime(script) {}
    }

    @Test func `where there is no such item a prompter comes all the same, and shows nothing`()
        throws
    {
        let (authenticator, _) = try authenticator()
        let program = ProgramOnTerminal(registry)
        #expect(try authenticator.consent(for: program) { nil } == nil)
        #expect(try program.shown() == [[]])
    }
}
