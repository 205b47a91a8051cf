// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainActivePolicy
internal import KeychainLinuxSystem
internal import KeychainMaintenance
package import KeychainMessages
package import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainRequestService
internal import KeychainUserPresence
internal import KeychainVaults

/// The whole service in the calling process, on keychains in a folder of its user's.
///
/// The checks are the daemon's. They guard against mistakes, but not against the process itself.
package final class EmbeddedKeychain: KeychainEndpoint {
    private let service: KeychainService
    private let client: OwnProcess
    private let folder: KeychainFolder
    private let protectors: Protectors

    /// `groups` come after the program's own group; if there are any, new items go to the first of
    /// them by default. `program` is given where this process stands for another program.
    package init(home: String, groups: [String], program: String? = nil) throws(RequestError) {
        let user = geteuid()
        let account = UserAccount.own?.name ?? ""
        folder = KeychainFolder(
            home, layout: .ownUser, accountName: { $0 == user ? account : nil })
        do {
            try PrivateFile.folder(home, mode: 0o700)
            protectors = Protectors(
                folder: folder, deviceKey: try Protectors.deviceKey(at: home + "/device.key"),
                allowsDeviceProtector: true)
        } catch { throw RequestError(error) }
        GenerationKeeper(folder, log: { _ in }).keepWhatIsDue()
        client = OwnProcess(user: user, groups: groups, program: program)
        service = KeychainService(
            KeychainService.Parts(
                folder: folder, vault: EmbeddedVault(protectors: protectors),
                protectors: protectors, authenticator: TerminalAuthenticator(account: account),
                mode: .embedded))
    }

    /// The user's terminal is the program's own here, so a question is cancelled there.
    package func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        if !(verb is CreateKeychain) { try makeLoginKeychain() }
        var client = client
        client.context = context
        client.cancellation = cancellation
        var parts: V.Answer?
        let last = try service.answer(verb, for: client) { part in
            if parts?.append(part: part) == nil { parts = part }
        }
        return parts?.append(part: last) == nil ? last : parts ?? last
    }

    /// Makes the login keychain when it is first needed, so that a program works in a container
    /// without preparation.
    private func makeLoginKeychain() throws(RequestError) {
        guard !folder.exists(.login, of: client.caller.user) else { return }
        do throws(RequestError) {
            try protectors.create(.login, of: client.caller.user, password: nil)
        } catch {
            switch error {
            // Another process was faster.
            case .state(.duplicateKeychain): return
            // The keychain's file is gone, and remains of it exist. A request for the keychain
            // fails later, and a restore must not be kept from running.
            case .failed(.keychainGone): return
            default: throw error
            }
        }
    }
}

/// This very process as the client.
private struct OwnProcess: Client {
    let caller: Caller
    let offersTerminal: Bool
    let process: ProofOrigin.Process?
    var context: AuthenticationContext?
    var cancellation: Cancellation?

    init(user: UInt32, groups: [String], program: String?) {
        let own = PinnedProcess(pid: getpid(), pidfd: nil)
        let executable = own?.executable()
        process = own.flatMap { ProofOrigin.Process($0, running: executable) }
        let path = program ?? executable?.path ?? CommandLine.arguments.first ?? "unknown"
        let group = "exe:" + path
        caller = Caller(
            user: user, process: getpid(), identity: .executable(path), session: nil,
            terminal: own?.status()?.ttyNumber,
            accessGroups: groups.contains(group) ? groups : groups + [group])
        offersTerminal = ControllingTerminal.exists
    }

    func terminal() -> ProofOrigin.Terminal? {
        PinnedProcess(pid: getpid(), pidfd: nil).flatMap(ProofOrigin.Terminal.init)
    }

    let notes = RequestNotes()
    /// Policies are an administrator's, and there are none where the package is not installed.
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
