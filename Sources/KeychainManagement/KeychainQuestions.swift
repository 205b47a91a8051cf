// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
package import KeychainMessages
package import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
package import KeychainSecrets
package import KeychainUserPresence
package import KeychainVaults

/// Questions of a prompter about whole keychains, so that no password passes through the requesting
/// program.
extension KeychainManagement {
    /// Asks the user to unlock the keychain with its password or its recovery key, in a few tries
    /// at most. The guesses are counted like all others.
    package func askToUnlock(_ name: String?, for client: any Client) throws(RequestError) {
        let prompts = prompts(client)
        try prompts.checkClient()
        let keychain = try keychain(name, for: client.caller)
        guard try isProtected(keychain) else { throw .state(.passcodeNotSet) }
        guard vault.lockState(of: keychain) != .unlocked else { return }
        guard prompts.mayAsk(.allow) else { throw .refused(.interactionNotAllowed) }
        try unlock(keychain, by: question(for: keychain, client), prompts)
    }

    /// Whether the user, if asked, could unlock a keychain that a request found locked.
    package func couldOpen(_ keychain: OpenKeychain) -> Bool { unlocking.applies(to: keychain) }

    /// Asks the user to unlock the keychain, as a step of the request that is recorded.
    package func open(_ keychain: OpenKeychain, _ prompts: UserPrompts) throws(RequestError) {
        let notes = prompts.client.notes
        do throws(RequestError) {
            let question = try unlocking.question(for: keychain, prompts.client)
            try unlock(keychain, by: question, prompts) { notes.note(step: .unlock, nil) }
        } catch {
            notes.note(step: .unlock, error)
            throw error
        }
    }

    private func unlock(
        _ keychain: OpenKeychain, by question: UnlockQuestion, _ prompts: UserPrompts,
        whenOpen: () -> Void = {}
    ) throws(RequestError) {
        let begun = vault.locks.now(keychain.id)
        try prompts.unlock(
            question, unless: { vault.lockState(of: keychain) == .unlocked },
            with: { typed throws(RequestError) in
                let isOpen = try unlocking.opens(
                    keychain, typed, for: prompts.client, since: begun)
                if isOpen { whenOpen() }
                return isOpen
            })
    }

    private func question(
        for keychain: OpenKeychain, _ client: any Client
    ) throws(RequestError) -> UnlockQuestion {
        if unlocking.applies(to: keychain) {
            return try unlocking.question(for: keychain, client)
        }
        guard resync.isWithinLimits(client) else { throw .state(.locked) }
        return UnlockQuestion(
            prompt: "Password: ",
            question: Question(
                .unlockKeychain, names: [keychain.name.description], itemCount: 0, reason: nil,
                remarks: ["Type its password, or its recovery key."]))
    }

    /// Asks for the password of a new keychain. A name that is taken is refused first.
    package func askForPassword(
        of verb: CreateKeychain, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        guard verb.password == nil, verb.recoveryKey == nil else { throw .invalid(.badRequest) }
        let name = try KeychainFolder.verified(verb.name)
        guard name != .system, try !folder.isTaken(name, of: client.caller.user) else {
            throw .state(.duplicateKeychain)
        }
        let prompts = prompts(client)
        guard prompts.mayAsk(.allow) else { throw .refused(.interactionNotAllowed) }
        return try prompts.newPassword(
            Question(
                .createKeychain, names: [name.description], itemCount: 0, reason: nil,
                remarks: ["Choose its password."]))
    }

    /// While the items can't be read, the groups that own them are unknown.
    func deletion(of keychain: OpenKeychain, for client: any Client) -> Question {
        let items = (try? keychain.file.itemCount()) ?? 0
        var owners = ""
        if let keys = try? vault.keys(of: keychain), keys.isUnlocked,
            let groups = try? keychain.file.groups(keys), !groups.isEmpty
        {
            owners = " of " + Self.named(groups)
        }
        let count = items == 1 ? "1 item" : "\(items) items"
        return Question(
            .deleteKeychain, names: [keychain.name.description], itemCount: 0,
            reason: client.context?.reason,
            remarks: [
                items == 0 ? "It has no items." : "It has \(count)\(owners).",
                "The last 64 that were deleted can be restored for 30 days.",
            ])
    }

    /// Programs whose names a question shows.
    private static let mostNames = 3

    private static func named(_ groups: [String]) -> String {
        let shown = groups.prefix(mostNames).map { ProgramName.shown($0) }.joined(separator: ", ")
        guard groups.count > 1 else { return shown }
        let rest = groups.count - mostNames
        return "\(groups.count) programs: \(shown)" + (rest > 0 ? " and \(rest) more" : "")
    }

    /// A program that a deputy relays would decide for all programs where new items go, so its user
    /// must agree in a window, or prove presence.
    func confirmDefault(
        _ name: String?, _ prompts: UserPrompts
    ) throws(RequestError) {
        let canConfirm = authentication.provable(for: prompts.client).contains(.factor(.confirm))
        try prompts.authorize { evidence throws(RequestError) -> Ruling<Void> in
            guard evidence.isEmpty else { return .allow(()) }
            return .allowAfter(
                Requirement(.factor(canConfirm ? .confirm : .presence)),
                Question(
                    .setDefaultKeychain, names: name.map { [$0] } ?? [], itemCount: 0,
                    reason: nil))
        }
    }
}
