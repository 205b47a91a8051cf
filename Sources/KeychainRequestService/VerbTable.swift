// SPDX-License-Identifier: Apache-2.0
package import KeychainUserPresence
internal import KeychainRequestAudit
internal import KeychainMaintenance
package import KeychainMessages
package import KeychainModel

/// Where each verb leads.
extension KeychainService: VerbHandler {
    package func handle(_ verb: Add, for client: any Client) throws(RequestError) -> Item {
        try add(verb.item, verb.secret, returning: verb.parts, for: client)
    }

    package func handle(
        _ verb: CopyMatching, for client: any Client, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item] {
        try copyMatching(verb.query, for: client, emit: emit)
    }

    package func handle(_ verb: Update, for client: any Client) throws(RequestError) -> Int {
        try update(verb.query, verb.change, verb.secret, for: client)
    }

    package func handle(_ verb: Delete, for client: any Client) throws(RequestError) -> Int {
        try delete(verb.query, for: client)
    }

    package func handle(_ verb: Status, for client: any Client) -> ServiceStatus {
        status(for: client.caller)
    }

    package func handle(_ verb: CreateKeychain, for client: any Client) throws(RequestError) -> Done
    {
        try createKeychain(verb.name, verb.password, verb.recoveryKey, for: client)
        return Done()
    }

    package func handle(_ verb: Unlock, for client: any Client) throws(RequestError) -> Done {
        try unlock(verb.keychain, verb.password, for: client)
        return Done()
    }

    package func handle(_ verb: Lock, for client: any Client) throws(RequestError) -> Done {
        try lock(verb.keychain, for: client)
        return Done()
    }

    package func handle(_ verb: ChangeSettings, for client: any Client) throws(RequestError) -> Done
    {
        try changeSettings(verb.keychain, verb.change, for: client)
        return Done()
    }

    package func handle(_ verb: SetPassword, for client: any Client) throws(RequestError) -> Done {
        try setPassword(verb.keychain, verb.old, verb.new, for: client)
        return Done()
    }

    package func handle(_ verb: Authenticate, for client: any Client) throws(RequestError) -> Done {
        try authenticate(verb.constraint, for: client)
        return Done()
    }

    package func handle(_ verb: ReadCapabilities, for client: any Client) -> Capabilities {
        capabilities(for: client)
    }

    package func handle(_ verb: EndContext, for client: any Client) -> Done {
        endContext(for: client)
        return Done()
    }

    package func handle(_ verb: Policies, for client: any Client) throws(RequestError) -> String {
        try policies(reload: verb.reload, for: client)
    }

    package func handle(
        _ verb: Preferences, for client: any Client
    ) throws(RequestError) -> KeychainPreferences {
        try preferences(verb.change, for: client)
    }

    package func handle(
        _ verb: ListProtectors, for client: any Client
    ) throws(RequestError) -> [Protector] {
        try listProtectors(verb.keychain, for: client)
    }

    package func handle(_ verb: AddProtector, for client: any Client) throws(RequestError)
        -> Protector
    {
        try addProtector(verb.new, verb.keychain, from: verb.opener, for: client)
    }

    package func handle(_ verb: RemoveProtector, for client: any Client) throws(RequestError)
        -> Done
    {
        try removeProtector(verb.identifier, verb.keychain, for: client)
        return Done()
    }

    package func handle(_ verb: TestProtector, for client: any Client) throws(RequestError) -> Done
    {
        try testProtector(verb.identifier, verb.keychain, typed: verb.secret, for: client)
        return Done()
    }

    package func handle(
        _ verb: UnlockWithProtector, for client: any Client
    ) throws(RequestError) -> Done {
        try unlock(verb.keychain, with: verb.opener, newPassword: verb.newPassword, for: client)
        return Done()
    }

    // MARK: Maintenance

    package func handle(
        _ verb: CheckKeychain, for client: any Client
    ) throws(RequestError) -> KeychainFindings {
        try maintenance.check(verb.keychain, repair: verb.repair, for: client)
    }

    package func handle(
        _ verb: ListGenerations, for client: any Client
    ) throws(RequestError) -> [Generation] {
        try maintenance.generations(of: verb.keychain, for: client)
    }

    package func handle(
        _ verb: BeginBackup, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        try maintenance.beginBackup(of: verb.keychain, for: client)
    }

    package func handle(_ verb: ReadBackup, for client: any Client) throws(RequestError)
        -> BackupPiece
    {
        try maintenance.readBackup(
            of: verb.keychain, verb.transfer, offset: verb.offset, for: client)
    }

    package func handle(
        _ verb: BeginRestore, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        try maintenance.beginRestore(of: verb.keychain, for: client)
    }

    package func handle(_ verb: SendRestore, for client: any Client) throws(RequestError) -> Done {
        try maintenance.sendRestore(of: verb.keychain, verb.transfer, verb.piece, for: client)
        return Done()
    }

    package func handle(
        _ verb: FinishRestore, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        try maintenance.finishRestore(
            of: verb.keychain, verb.transfer, digest: verb.digest, for: client)
    }

    package func handle(
        _ verb: RestoreGeneration, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        try maintenance.restore(generation: verb.generation, of: verb.keychain, for: client)
    }
}

extension AuditLog.Operation {
    /// The log has all names of verbs, and those of what happens without one.
    init(_ name: AuditName) { self = Self(rawValue: name.rawValue) ?? .status }
}
