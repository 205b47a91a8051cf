// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainModel
internal import LocalSocket

/// Where no daemon is: `keychain-auth` runs as the user, who can prove only that he is himself, and
/// talks to `keychain-prompter` on the terminal. What is typed never enters this process.
struct TerminalAuthenticator: Authenticator {
    private static let deadline = 90.0
    /// Where the two programs may be, seen from the program that uses the library and at large.
    private static let folders = ["/usr/libexec/keychain", "/usr/local/libexec/keychain"]

    let account: String

    func canAsk(for asker: any Asker) -> Bool {
        asker.offersTerminal && Self.program("keychain-auth") != nil
            && Self.program("keychain-prompter") != nil
    }

    func hasPrompter(for caller: Caller) -> Bool { false }

    func prove(_ factor: Factor, _ question: Question, for asker: any Asker) throws(Refusal) {
        guard let auth = Self.program("keychain-auth"),
            let prompter = Self.program("keychain-prompter"), asker.offersTerminal
        else { throw .interactionNotAllowed }
        let status: ExitStatus?
        do {
            let (here, there) = try ConversationChannel.pair()
            try here.send(.title(question.text(for: asker.caller)))
            let shower = try ChildProcess(
                executable: prompter, arguments: ["--conversation"], environment: [],
                passing: [(source: there.descriptor.number, target: 3)], newSession: false)
            defer { shower.kill() }
            let prover = try ChildProcess(
                executable: auth, arguments: [factor.service, account], environment: [],
                passing: [(source: here.descriptor.number, target: 3)], newSession: false)
            status = prover.wait(deadlineSeconds: Self.deadline)
            if status == nil { prover.kill() }
            _ = shower.wait(deadlineSeconds: 1)
        } catch { throw .internalError }
        guard status?.isSuccess == true else { throw .authenticationFailed }
    }

    private static func program(_ name: String) -> String? {
        let nearby = InstalledProgram.sibling("../libexec/keychain/" + name)
        return ([nearby].compactMap { $0 } + folders.map { $0 + "/" + name })
            .first(where: InstalledProgram.isTrusted)
    }
}
