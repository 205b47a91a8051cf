// SPDX-License-Identifier: Apache-2.0
internal import KeychainRequestAudit
package import KeychainUserPresence
internal import KeychainVaults
internal import KeychainAccessControl
internal import Foundation
package import KeychainMessages
package import KeychainModel
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import Synchronization

/// What keeps a keychain's items from being lost: checks, backups, generations.
extension KeychainService {
    /// Bytes that one restore is counted for: a user's own are done one at a time.
    private static let roomToRestore = 40 * 1024 * 1024

    /// The keychain's place; the machine's is root's to maintain.
    private func keychainToMaintain(
        _ name: String?, for client: any Client
    ) throws(Refusal) -> KeychainID {
        let id = try folder.id(try KeychainFolder.verified(name), of: client.caller.user)
        guard id.name != .system || client.caller.user == 0 else { throw .notEntitled }
        return id
    }

    package func handle(_ verb: CheckKeychain, for client: any Client) throws(Refusal)
        -> KeychainFindings
    {
        try check(
            try keychainToMaintain(verb.keychain, for: client), repair: verb.repair, for: client)
    }

    package func handle(_ verb: ListGenerations, for client: any Client) throws(Refusal)
        -> [Generation]
    {
        generations(of: try keychainToMaintain(verb.keychain, for: client)).map {
            Generation(
                number: $0.number, made: $0.made / .seconds(1), bytes: UInt64($0.bytes))
        }
    }

    package func handle(_ verb: BeginBackup, for client: any Client) throws(Refusal)
        -> BackupTransfer
    {
        try beginBackup(try keychainToMaintain(verb.keychain, for: client), for: client)
    }

    package func handle(_ verb: ReadBackup, for client: any Client) throws(Refusal) -> BackupPiece {
        let id = try keychainToMaintain(verb.keychain, for: client)
        return BackupPiece(try transfers.read(verb.transfer, offset: verb.offset, of: id))
    }

    package func handle(_ verb: BeginRestore, for client: any Client) throws(Refusal)
        -> BackupTransfer
    {
        try beginRestore(try keychainToMaintain(verb.keychain, for: client), for: client)
    }

    package func handle(_ verb: SendRestore, for client: any Client) throws(Refusal) -> Done {
        let id = try keychainToMaintain(verb.keychain, for: client)
        try transfers.write(verb.transfer, verb.piece, of: id)
        return Done()
    }

    package func handle(_ verb: FinishRestore, for client: any Client) throws(Refusal)
        -> RestoredKeychain
    {
        let id = try keychainToMaintain(verb.keychain, for: client)
        let path = try transfers.finishWriting(verb.transfer, digest: verb.digest, of: id)
        return try restore(path, id, for: client)
    }

    package func handle(
        _ verb: RestoreGeneration, for client: any Client
    ) throws(Refusal) -> RestoredKeychain {
        let id = try keychainToMaintain(verb.keychain, for: client)
        return try restore(generation: verb.generation, id, for: client)
    }

    // MARK: Looking

    private func check(
        _ id: KeychainID, repair: Bool, for client: any Client
    ) throws(Refusal) -> KeychainFindings {
        let keychain = try folder.keychain(id.name.description, of: id.user)
        // It reads every record: one at a time.
        guard checks.begin(id) else { throw .tooManyRequests }
        defer { checks.end(id) }
        let keys = try vault.keys(of: keychain)
        var findings: KeychainFindings
        do { findings = try keychain.file.check(repair: repair, keys: keys) } catch {
            throw Refusal(error)
        }
        let leftovers = Leftovers(of: id, in: folder)
        findings.leftovers = leftovers.count
        if repair {
            leftovers.remove()
        }
        return findings
    }

    private func generations(of id: KeychainID) -> [KeychainGenerations.Generation] {
        KeychainGenerations(of: folder.filePath(id.name, id.user)).all
    }

    // MARK: Backup

    private func beginBackup(
        _ id: KeychainID, for client: any Client
    ) throws(Refusal) -> BackupTransfer {
        let keychain = try folder.keychain(id.name.description, of: id.user)
        let watch = UnlockWatch(keychain, vault)
        let unlock = watch.isOpen ? watch : nil
        // A holder of the file may try passwords on it for any length of time.
        try provePresence(.backUp, id, for: client)
        let identifier = BackupTransfers.newIdentifier()
        try unlock?.check(.whileUnlocked)
        let path = folder.passingPath("backup", identifier, id)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: keychain.path, at: path)
        } catch { throw Refusal(error) }
        return try transfers.beginReading(path, identifier, of: id, while: unlock)
    }

    // MARK: Restoring

    private func beginRestore(
        _ id: KeychainID, for client: any Client
    ) throws(Refusal) -> BackupTransfer {
        // Before anything of the client's is kept; and who sends the rest knows the identifier.
        try provePresence(.restore, id, for: client)
        try folder.makeFolder(of: id.user)
        let identifier = BackupTransfers.newIdentifier()
        return try transfers.beginWriting(
            folder.passingPath("incoming", identifier, id), identifier, of: id)
    }

    private func restore(
        generation number: Int, _ id: KeychainID, for client: any Client
    ) throws(Refusal) -> RestoredKeychain {
        guard let generation = generations(of: id).first(where: { $0.number == number }) else {
            throw .noSuchKeychain
        }
        try provePresence(.restore, id, for: client)
        let path = folder.passingPath("incoming", BackupTransfers.newIdentifier(), id)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: generation.path, at: path)
        } catch { throw Refusal(error) }
        return try restore(path, id, for: client)
    }

    /// The file at the path is used up.
    private func restore(
        _ path: String, _ id: KeychainID, for client: any Client
    ) throws(Refusal) -> RestoredKeychain {
        defer { PrivateFile.removeDatabase(path) }
        try checkClient(client)
        guard checks.begin(id) else { throw .tooManyRequests }
        defer { checks.end(id) }
        // SQLite holds a whole record at a time, and a file may bring large ones.
        let room = try memory.take(Self.roomToRestore, for: id.user)
        defer { withExtendedLifetime(room) {} }
        let returning = try protectors.returning(path, folder.owner(id.user))
        var restored = RestoredKeychain()
        restored.setAside = returning.setAside
        restored.replaced = try folder.put(returning, id)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        try vault.forget(keychain)
        authentication.forget(id.user)
        return restored
    }

    /// In embedded mode the files are the user's own: there it asks where a password protects what
    /// is in them.
    private func provePresence(
        _ purpose: Question.Purpose, _ id: KeychainID, for client: any Client
    ) throws(Refusal) {
        try authorizePresence(
            for: client,
            Question(
                purpose, names: [id.name.description], itemCount: 1,
                reason: client.context?.reason),
            unless: {
                guard !isDaemon else { return false }
                let keychain = try? folder.keychain(id.name.description, of: id.user)
                return (try? keychain?.file.isPasswordProtected()) != true
            })
    }
}

/// Work on whole keychains that is done once at a time.
final class KeychainChecks: Sendable {
    private let busy = Mutex<Set<KeychainID>>([])

    func begin(_ id: KeychainID) -> Bool { busy.withLock { $0.insert(id).inserted } }

    func end(_ id: KeychainID) { busy.withLock { _ = $0.remove(id) } }
}
