// SPDX-License-Identifier: Apache-2.0
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import ProgramHandoff
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// One conversation with the process that asks PAM.
@Suite struct PAMProcessTests {
    private struct End {
        var outcome: ConversationOutcome?
        var refusal: RequestError?
        var hasAnswered = false
        var shown: [ServerMessage.Prompt] = []
    }

    private static let request = AuthenticationRequest(
        service: "keychain-presence", account: "alice", asker: nil, user: 1000)

    private func converse(
        with words: String, _ replies: ScriptedPrompter.Reply...,
        unless isMoot: @escaping @Sendable () -> Bool = { false }
    ) throws -> End {
        let pair = try ConnectionPair()
        let prompter = Prompter(pair.server, at: nil) { _ in .noOtherReader }
        let person = ScriptedPrompter(pair.client, replies)
        let script = try PAMScript(words)
        defer { withExtendedLifetime(script) {} }
        let process = PAMProcess(
            starter: script, request: Self.request, deadline: .seconds(600))
        var end = End()
        do throws(RequestError) {
            end.outcome = try process.ask(
                .title("git wants it"), on: prompter, unless: isMoot, &end.hasAnswered)
        } catch { end.refusal = error }
        prompter.hangUp()
        end.shown = try person.prompts()
        return end
    }

    @Test func `what the modules say is shown, and what is typed goes to them`() throws {
        let end = try converse(
            with: #"printf '\003Touch it.' >&3"# + "\n" + PAMScript.password, .types("battery"))
        #expect(end.outcome == .success && end.hasAnswered)
        #expect(
            end.shown == [
                .title("git wants it"), .information("Touch it."), .askHidden("Password: "),
            ])
    }

    @Test func `the program is told the service, the user and the account alone`() throws {
        let words = #"""
            [ "$1 $2 $3 $#" = 'keychain-presence 1000 alice 3' ] && [ -z "$HOME$LD_PRELOAD" ] \
                && printf '\007\000' >&3
            """#
        #expect(try converse(with: words).outcome == .success)
    }

    @Test func `a wrong password and a user who cancels are told apart`() throws {
        let wrong = try converse(with: PAMScript.password, .types("wrong"))
        #expect(wrong.outcome == .failed && wrong.hasAnswered)
        let cancelled = try converse(with: PAMScript.password, .cancels)
        #expect(cancelled.outcome == .cancelled && !cancelled.hasAnswered)
    }

    @Test func `a process that ends without a last word has proven nothing`() throws {
        #expect(try converse(with: "exit 0").outcome == .failed)
        // Not even what another program says by its status.
        #expect(try converse(with: "exit 80").outcome == .failed)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a module that left something running keeps no question open`() throws {
        #expect(try converse(with: "/bin/sleep 600 3>&3 &").outcome == .failed)
    }

    @Test func `a process that talks without end is ended`() throws {
        let end = try converse(with: #"while printf '\003on and on' >&3; do :; done"#)
        #expect(end.outcome == .failed)
        #expect(end.shown.count < 1000)
    }

    @Test(arguments: [#"\010Another title"#, #"\005answer"#, #"\006"#])
    func `what only this side may say is not heard from it`(_ message: String) throws {
        #expect(try converse(with: "printf '\(message)' >&3").refusal == .failed(.internalError))
    }

    @Test func `a prompter that goes ends the conversation`() throws {
        let end = try converse(with: PAMScript.password, .leaves)
        #expect(end.refusal == .refused(.interactionNotAllowed) && !end.hasAnswered)
    }

    @Test(.timeLimit(.minutes(1)))
    func `what no program waits for any more is ended`() throws {
        let end = try converse(with: "exec /bin/sleep 600", unless: { true })
        #expect(end.outcome != .success)
    }

    private func refusal(of error: StarterError) throws -> (ConversationOutcome?, RequestError?) {
        let pair = try ConnectionPair()
        var hasAnswered = false
        do throws(RequestError) {
            let outcome = try PAMProcess(
                starter: RefusingStarter(error: error), request: Self.request, deadline: .seconds(1)
            )
            .ask(
                .title("x"), on: Prompter(pair.server, at: nil) { _ in .noOtherReader },
                unless: { false }, &hasAnswered)
            return (outcome, nil)
        } catch { return (nil, error) }
    }

    @Test func `what is not started is told apart from what has proven nothing`() throws {
        #expect(try refusal(of: .noService) == (.unavailable, nil))
        #expect(try refusal(of: .busy) == (nil, .refused(.tooManyRequests)))
        for error in [StarterError.notInstalled, .failed, .badRequest, .notAnswering] {
            #expect(try refusal(of: error) == (nil, .failed(.noAuthentication)))
        }
    }

    @Test func `a starter that is gone in the middle is said to be`() throws {
        let end = try converse(with: "\(PAMScript.losesStarter)")
        #expect(end.outcome == nil && end.refusal == .failed(.noAuthentication))
    }
}
