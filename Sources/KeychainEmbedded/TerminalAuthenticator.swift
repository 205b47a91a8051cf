// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainSecrets
internal import KeychainUserPresence

/// Authentication without a daemon: `keychain-auth` runs as the user, who can only prove to be this
/// user, and talks to `keychain-prompter` on the terminal. An account's password never enters this
/// process; an item's own password does.
struct TerminalAuthenticator: Authenticator {
    private static let deadline = 90.0
    /// The folders of the two programs, beside those near the program that uses the library.
    private static let folders = ["/usr/libexec/keychain", "/usr/local/libexec/keychain"]

    private let account: String
    /// Finds a program of the installation; nil where there is none that can be trusted.
    private let find: @Sendable (_ name: String) -> String?

    init(
        account: String,
        find: @escaping @Sendable (_ name: String) -> String? = TerminalAuthenticator.program
    ) {
        self.account = account
        self.find = find
    }

    func canAsk(for client: any Client) -> Bool {
        client.offersTerminal && find("keychain-auth") != nil
            && find("keychain-prompter") != nil
    }

    func hasPrompter(for caller: Caller) -> Bool { false }

    /// A process of the user can see neither enrolments nor a second device. Where the programs are
    /// not installed the user can't be asked now, but may be later.
    func provable(for caller: Caller) -> Set<PolicyMethod> {
        [.factor(.presence), .factor(.passcode)]
    }

    func hasBiometryService() -> Bool { false }

    func enrolledBiometry(of caller: Caller) -> [UInt8] { [] }

    func ask(
        _ prompt: String, _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        guard let prompter = find("keychain-prompter"), client.offersTerminal else {
            throw .refused(.interactionNotAllowed)
        }
        let answer: ConversationMessage
        do {
            let (here, shower) = try start(prompter, question, client.caller)
            defer {
                // The prompter sees its channel end, and restores the terminal.
                here.hangUp()
                if shower.wait(deadlineSeconds: 2) == nil { shower.kill() }
            }
            try here.send(.askHidden(prompt))
            answer = try here.receive(deadlineSeconds: Self.deadline)
            try? here.send(.finished(.success))
        } catch { throw .refused(.interactionNotAllowed) }
        guard case .answer(let secret) = answer else { throw .refused(.cancelled) }
        return secret
    }

    /// Embedded mode has no logins that could open a keychain.
    func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        throw .refused(.interactionNotAllowed)
    }

    /// Programs of one user are not separated in embedded mode, so there is no consent to ask for.
    func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        nil
    }

    func prove(_ method: PolicyMethod, _ question: Question, for client: any Client)
        throws(RequestError)
    {
        guard let service = method.service else { throw .refused(.authenticationFailed) }
        guard let auth = find("keychain-auth"),
            let prompter = find("keychain-prompter"), client.offersTerminal
        else { throw .refused(.interactionNotAllowed) }
        let programs: (prover: ChildProcess, shower: ChildProcess)
        do {
            programs = try start(auth, prompter, service, question, client.caller)
        } catch { throw .failed(.internalError) }
        let status = programs.prover.wait(deadlineSeconds: Self.deadline)
        if status == nil { programs.prover.kill() }
        // The prompter sees its channel end, and restores the terminal.
        if programs.shower.wait(deadlineSeconds: 2) == nil { programs.shower.kill() }
        switch status?.code.flatMap(ConversationOutcome.init(exitStatus:)) {
        case .success: return
        case .cancelled: throw .refused(.cancelled)
        default: throw .refused(.authenticationFailed)
        }
    }

    /// The prompter, which shows the question, alone has the other end of the channel: one that ends
    /// is not waited for.
    private func start(
        _ prompter: String, _ question: Question, _ caller: Caller
    ) throws -> (here: ConversationChannel, shower: ChildProcess) {
        let (here, there) = try ConversationChannel.pair()
        try here.send(.title(question.text(for: caller)))
        let shower = try ChildProcess(
            executable: prompter, arguments: ["--conversation"], environment: [],
            passing: [(source: there.descriptor.number, target: 3)], newSession: false)
        return (here, shower)
    }

    /// Joins the two programs by a channel of which this process keeps neither end.
    private func start(
        _ auth: String, _ prompter: String, _ service: String, _ question: Question,
        _ caller: Caller
    ) throws -> (prover: ChildProcess, shower: ChildProcess) {
        let (here, shower) = try start(prompter, question, caller)
        let prover = try ChildProcess(
            executable: auth, arguments: [service, String(caller.user), account],
            environment: [],
            passing: [(source: here.descriptor.number, target: 3)], newSession: false)
        return (prover, shower)
    }

    @Sendable static func program(_ name: String) -> String? {
        // In the libexec folder near this program or in its own folder, which is where
        // keychain-embedded is.
        let nearby = ["../libexec/keychain/" + name, name].compactMap(InstalledProgram.sibling)
        return (nearby + folders.map { $0 + "/" + name })
            .first(where: InstalledProgram.isTrusted)
    }
}
