// SPDX-License-Identifier: Apache-2.0
@testable import KeychainEmbedded
import KeychainMessages
import KeychainModel
import KeychainPolicyModel
import KeychainUserPresence
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// Questions where no daemon is: the two programs of the installation, on the asking program's
/// terminal.
@Suite struct TerminalAuthenticatorTests {
    private static let question = Question(.read, names: ["mail"], itemCount: 1, reason: nil)
    private let folder: ScratchFolder
    private let onTerminal = ProgramOnTerminal(PrompterRegistry())

    init() throws { folder = try ScratchFolder() }

    /// The programs are scripts that talk on descriptor 3.
    private func authenticator(
        auth: String, prompter: String
    ) throws -> TerminalAuthenticator {
        let paths = [
            "keychain-auth": try folder.script("auth", auth),
            "keychain-prompter": try folder.script("prompter", prompter),
        ]
        return TerminalAuthenticator(account: "alice") { paths[$0] }
    }

    /// Takes the title, asks for a password with which `keychain-auth` is content or not, and ends.
    private static let shower = #"""
        /bin/dd bs=8192 count=1 <&3 >/dev/null 2>&1
        printf '\005battery' >&3
        """#

    private func refusal(_ body: () throws(RequestError) -> Void) -> RequestError? {
        do throws(RequestError) {
            try body()
            return nil
        } catch { return error }
    }

    private func proof(_ auth: String, _ prompter: String = "exit 0") throws -> RequestError? {
        let authenticator = try authenticator(auth: auth, prompter: prompter)
        return refusal { () throws(RequestError) in
            try authenticator.prove(.factor(.presence), Self.question, for: onTerminal)
        }
    }

    @Test func `a user can be asked where the programs are and the terminal is offered`() throws {
        let installed = try authenticator(auth: "exit 0", prompter: "exit 0")
        #expect(installed.canAsk(for: onTerminal))
        let without = ProgramOnTerminal(PrompterRegistry(), offersTerminal: false)
        #expect(!installed.canAsk(for: without))
        for missing in ["keychain-auth", "keychain-prompter"] {
            let half = TerminalAuthenticator(account: "alice") { $0 == missing ? nil : "/bin/true" }
            #expect(!half.canAsk(for: onTerminal))
            let said = refusal { () throws(RequestError) in
                try half.prove(.factor(.presence), Self.question, for: onTerminal)
            }
            #expect(said == .refused(.interactionNotAllowed))
        }
    }

    @Test func `a program that is not installed is not found`() {
        #expect(TerminalAuthenticator.program("no-such-program") == nil)
    }

    @Test func `a proof is the word of keychain-auth, by the status that it alone has`() throws {
        #expect(try proof("exit 80") == nil)
        #expect(try proof("exit 82") == .refused(.cancelled))
        for status in [0, 1, 81, 83, 84, 85, 86] {
            #expect(try proof("exit \(status)") == .refused(.authenticationFailed), "\(status)")
        }
        #expect(try proof("kill -9 $$") == .refused(.authenticationFailed))
    }

    @Test func `what is typed goes from the one program to the other`() throws {
        let auth = #"""
            [ "$1 $3 $#" = 'keychain-presence alice 3' ] || exit 81
            typed=$(/bin/dd bs=2048 count=1 <&3 2>/dev/null)
            [ "$typed" = "$(printf '\005battery')" ] && exit 80
            exit 81
            """#
        #expect(try proof(auth, Self.shower) == nil)
        #expect(try proof(auth, #"printf '\005wrong' >&3"#) == .refused(.authenticationFailed))
    }

    @Test func `no PAM service, no proof`() throws {
        let authenticator = try authenticator(auth: "exit 80", prompter: "exit 0")
        let said = refusal { () throws(RequestError) in
            try authenticator.prove(.factor(.confirm), Self.question, for: onTerminal)
        }
        #expect(said == .refused(.authenticationFailed))
    }

    @Test(.timeLimit(.minutes(1)))
    func `an application password is what is typed, and not what a program cancels`() throws {
        // It hears the title, the question and, after its answer, that it is over.
        func answering(_ answer: String) -> String {
            let hears = "/bin/dd bs=8192 count=1 <&3 >/dev/null 2>&1\n"
            return hears + hears + "printf '\(answer)' >&3\n" + hears
        }
        let typing = try authenticator(auth: "exit 0", prompter: answering(#"\005battery"#))
        #expect(try typing.ask("Password: ", Self.question, for: onTerminal).text == "battery")
        for (words, expected) in [
            (answering(#"\006"#), RequestError.refused(.cancelled)),
            // One that ends without an answer is not waited for.
            ("exit 0", .refused(.interactionNotAllowed)),
        ] {
            let other = try authenticator(auth: "exit 0", prompter: words)
            let said = refusal { () throws(RequestError) in
                _ = try other.ask("Password: ", Self.question, for: onTerminal)
            }
            #expect(said == expected)
        }
    }

    @Test func `without a daemon a user proves to be the user, and agrees to nothing`() throws {
        let authenticator = try authenticator(auth: "exit 80", prompter: "exit 0")
        let caller = onTerminal.caller
        #expect(
            authenticator.provable(for: caller) == [.factor(.presence), .factor(.passcode)])
        #expect(!authenticator.hasBiometryService() && !authenticator.hasPrompter(for: caller))
        #expect(authenticator.enrolledBiometry(of: caller).isEmpty)
        #expect(
            refusal { () throws(RequestError) in
                try authenticator.open(
                    "?", Self.question, for: onTerminal, unless: { true }, with: { _ in true })
            } == .refused(.interactionNotAllowed))
        let result = try authenticator.consent(for: onTerminal) {
            (Self.question, ConsentOptions())
        }
        #expect(result == nil)
    }
}
