// SPDX-License-Identifier: Apache-2.0
import CallerIdentity
import KeychainLinuxSystem
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainRequestAudit
import KeychainUserPresence
import ProgramHandoff
import SystemTestSupport
import Testing

@testable import PromptedAuthentication

/// A program that offers its terminal and starts a prompter there, which answers as the test says.
final class ProgramOnTerminal: Client {
    let caller: Caller
    let context: AuthenticationContext? = nil
    let process: ProofOrigin.Process? = nil
    let notes = RequestNotes()
    let offersTerminal: Bool
    private let registry: PrompterRegistry
    private let replies: Box<[ScriptedPrompter.Reply]>
    private let place: PrompterPlace?
    private let started = Box<[(Prompter, ScriptedPrompter)]>([])

    /// `place` is where its prompter is, if that is not its own terminal.
    init(
        _ registry: PrompterRegistry, _ replies: [ScriptedPrompter.Reply] = [],
        offersTerminal: Bool = true, at place: PrompterPlace? = nil
    ) {
        self.registry = registry
        self.replies = Box(replies)
        self.offersTerminal = offersTerminal
        caller = Caller(
            user: 1000, process: 1, identity: .trustedExecutable("/usr/bin/git"), session: nil,
            terminal: 34_816, terminalSession: 42, accessGroups: [])
        self.place = place ?? .terminal(of: caller)
    }

    /// How many prompters it started.
    var prompters: Int { started.value.count }

    /// What the prompters were to show, one after the other.
    func shown() throws -> [[ServerMessage.Prompt]] {
        try started.value.map { prompter, script in
            prompter.hangUp()
            return try script.prompts()
        }
    }

    func answers(_ replies: ScriptedPrompter.Reply...) { self.replies.change { $0 = replies } }

    func startPrompter(challenge: [UInt8]) -> Bool {
        guard let pair = try? ConnectionPair() else { return false }
        let prompter = Prompter(pair.server, at: place) { _ in .noOtherReader }
        guard (try? registry.attach(prompter, challenge: challenge)) != nil else { return false }
        let script = ScriptedPrompter(pair.client, replies.value)
        started.change { $0.append((prompter, script)) }
        return true
    }

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts { PolicyFacts() }
    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        VisibleGroups()
    }
    func terminal() -> ProofOrigin.Terminal? { nil }
    func isUnchanged() -> Bool { true }
    func hasGone() -> Bool { false }
}

/// Stands for `keychain-auth` and what starts it: a program that talks on its descriptor 3 as the
/// test says, in the words of a shell.
struct PAMScript: ProgramStarter {
    let path: String
    private let folder: ScratchFolder

    static let success = #"printf '\007\000' >&3"#
    static let failure = #"printf '\007\001' >&3"#
    /// Asks for a password, and whether it is `battery` decides.
    static let password = #"""
        printf '\001Password: ' >&3
        typed=$(/bin/dd bs=2048 count=1 <&3 2>/dev/null)
        case $typed in
        "$(printf '\005battery')") printf '\007\000' >&3 ;;
        "$(printf '\006')") printf '\007\002' >&3 ;;
        *) printf '\007\001' >&3 ;;
        esac
        """#

    /// It ends as one does whose starter was killed.
    static let losesStarter = "kill -9 $$"

    init(_ words: String) throws {
        folder = try ScratchFolder()
        path = try folder.script("auth", words)
    }

    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        LosableProgram(
            program: try ScriptStarter(path: path).start(request, passing: descriptors))
    }

    private struct LosableProgram: RunningProgram {
        let program: any RunningProgram

        func state(withinSeconds seconds: Double) -> ProgramState {
            let state = program.state(withinSeconds: seconds)
            return state == .ended(ExitStatus(code: nil)) ? .lost : state
        }

        func end() { program.end() }
    }
}
