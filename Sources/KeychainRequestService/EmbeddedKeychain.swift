// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainLocalSocket
package import KeychainMessages
package import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// The whole service in the calling process, on keychains in a folder of its user's.
///
/// The checks are the daemon's, and guard against mistakes; against the process itself they can't.
package final class EmbeddedKeychain: KeychainEndpoint {
    private let service: KeychainService
    private let asker: OwnProcess
    private let folder: KeychainFolder
    private let protectors: Protectors

    /// `groups` come after the program's own; where there are any, the first of them is the default
    /// for new items.
    package init(home: String, groups: [String]) throws(Refusal) {
        let user = geteuid()
        let account = NSUserName()
        folder = KeychainFolder(
            home, layout: .ownUser, accounts: AccountNames { $0 == user ? account : nil })
        do {
            try PrivateFile.folder(home, mode: 0o700)
            protectors = Protectors(
                folder: folder, deviceKey: try Protectors.deviceKey(at: home + "/device.key"),
                allowsDeviceProtector: true)
        } catch { throw Refusal(error) }
        GenerationKeeper(folder, log: { _ in }).keepWhatIsDue()
        asker = OwnProcess(user: user, groups: groups)
        service = KeychainService(
            folder: folder, vault: EmbeddedVault(protectors: protectors), protectors: protectors,
            authenticator: TerminalAuthenticator(account: account),
            policy: PolicyInForce(),
            evidence: EvidenceStore(keyring: nil),
            guesses: Guesses(), memory: MemoryBudget(), audit: nil, mode: .embedded)
    }

    /// The user's terminal is the program's own here: a question is cancelled there.
    package func answer(
        _ request: Request, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(Refusal) -> Answer {
        try makeLoginKeychain(for: request)
        var asker = asker
        asker.context = context
        asker.cancellation = cancellation
        var parts: [AnsweredItem] = []
        var answer = try service.answer(request, for: asker) { part in parts += part.items }
        answer.items = parts + answer.items
        return answer
    }

    /// A program simply works in a container: its login keychain is made when it is first needed.
    private func makeLoginKeychain(for request: Request) throws(Refusal) {
        if case .createKeychain = request { return }
        guard !folder.exists(.login, of: asker.caller.user) else { return }
        do throws(Refusal) {
            try protectors.create(.login, of: asker.caller.user, password: nil)
        } catch {
            switch error {
            // Another process was faster.
            case .duplicateKeychain: return
            // Its file is gone, and something of it is left: what asks for it is told, and
            // what brings it back is not held up.
            case .keychainGone: return
            default: throw error
            }
        }
    }
}

/// This very process as the one that asks.
private struct OwnProcess: Asker {
    let caller: Caller
    let offersTerminal: Bool
    let process: EvidencePlaces.Process?
    var context: AuthenticationContext?
    var cancellation: Cancellation?

    init(user: UInt32, groups: [String]) {
        let own = PinnedProcess(pid: getpid(), pidfd: nil)
        let executable = own?.executable()
        process = own.flatMap { EvidencePlaces.Process($0, running: executable) }
        let path = executable?.path ?? CommandLine.arguments.first ?? "unknown"
        let group = "exe:" + path
        caller = Caller(
            user: user, process: getpid(), identity: .executable(path), session: nil,
            terminal: own?.status()?.ttyNumber,
            accessGroups: groups.contains(group) ? groups : groups + [group])
        offersTerminal = ControllingTerminal.exists
    }

    func terminal() -> EvidencePlaces.Terminal? {
        PinnedProcess(pid: getpid(), pidfd: nil).flatMap(EvidencePlaces.Terminal.init)
    }

    let notes = RequestNotes()
    /// Policies are the administrator's, who has none where this package is not installed.
    func policyFacts(_ asked: AskedFacts) -> PolicyFacts { PolicyFacts() }
    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        VisibleGroups()
    }
    func isUnchanged() -> Bool { true }
    func hasGone() -> Bool { cancellation?.isCancelled ?? false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}
