// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainItemStore
internal import KeychainLinuxSystem
package import KeychainMessages
package import KeychainModel
internal import KeychainRequestAudit
package import KeychainUserPresence
internal import KeychainVaults
internal import Synchronization

/// What keeps a keychain's items from being lost: checks, backups, generations.
extension KeychainService {
    /// Bytes that one restore is counted for: a user's own are done one at a time.
    private static let roomToRestore = 40 * 1024 * 1024

    /// The keychain's place; the machine's is root's to maintain.
    private func placeToMaintain(
        _ name: String?, for asker: any Asker
    ) throws(Refusal) -> KeychainPlace {
        let place = try folder.place(try KeychainFolder.verified(name), of: asker.caller.user)
        guard place.name != .system || asker.caller.user == 0 else { throw .notEntitled }
        return place
    }

    package func handle(_ verb: CheckKeychain, for asker: any Asker) throws(Refusal)
        -> KeychainFindings
    {
        try check(
            try placeToMaintain(verb.keychain, for: asker), repair: verb.repair, for: asker)
    }

    package func handle(_ verb: ListGenerations, for asker: any Asker) throws(Refusal)
        -> [Generation]
    {
        generations(of: try placeToMaintain(verb.keychain, for: asker)).map {
            Generation(
                number: $0.number, made: $0.made.timeIntervalSince1970, bytes: UInt64($0.bytes))
        }
    }

    package func handle(_ verb: BeginBackup, for asker: any Asker) throws(Refusal) -> BackupTransfer
    {
        try beginBackup(try placeToMaintain(verb.keychain, for: asker), for: asker)
    }

    package func handle(_ verb: ReadBackup, for asker: any Asker) throws(Refusal) -> BackupPiece {
        let place = try placeToMaintain(verb.keychain, for: asker)
        return BackupPiece(try transfers.read(verb.transfer, offset: verb.offset, of: place))
    }

    package func handle(_ verb: BeginRestore, for asker: any Asker) throws(Refusal)
        -> BackupTransfer
    {
        try beginRestore(try placeToMaintain(verb.keychain, for: asker), for: asker)
    }

    package func handle(_ verb: SendRestore, for asker: any Asker) throws(Refusal) -> Done {
        let place = try placeToMaintain(verb.keychain, for: asker)
        try transfers.write(verb.transfer, verb.piece, of: place)
        return Done()
    }

    package func handle(_ verb: FinishRestore, for asker: any Asker) throws(Refusal)
        -> RestoredKeychain
    {
        let place = try placeToMaintain(verb.keychain, for: asker)
        let path = try transfers.finishWriting(verb.transfer, digest: verb.digest, of: place)
        return try restore(path, place, for: asker)
    }

    package func handle(
        _ verb: RestoreGeneration, for asker: any Asker
    ) throws(Refusal) -> RestoredKeychain {
        let place = try placeToMaintain(verb.keychain, for: asker)
        return try restore(generation: verb.generation, place, for: asker)
    }

    // MARK: Looking

    private func check(
        _ place: KeychainPlace, repair: Bool, for asker: any Asker
    ) throws(Refusal) -> KeychainFindings {
        let keychain = try folder.keychain(place.name.description, of: place.user)
        // It reads every record: one at a time.
        guard checks.begin(place) else { throw .tooManyRequests }
        defer { checks.end(place) }
        let keys = try vault.keys(of: keychain)
        var findings: KeychainFindings
        do { findings = try keychain.file.check(repair: repair, keys: keys) } catch {
            throw Refusal(error)
        }
        let leftovers = Leftovers(of: place, in: folder)
        findings.leftovers = leftovers.count
        if repair {
            leftovers.remove()
        }
        return findings
    }

    private func generations(of place: KeychainPlace) -> [KeychainGenerations.Generation] {
        KeychainGenerations(of: folder.filePath(place.name, place.user)).all
    }

    // MARK: Backup

    private func beginBackup(
        _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> BackupTransfer {
        let keychain = try folder.keychain(place.name.description, of: place.user)
        let watch = UnlockWatch(keychain, vault)
        let unlock = watch.isOpen ? watch : nil
        // A holder of the file may try passwords on it for any length of time.
        try provePresence(.backUp, place, for: asker)
        let identifier = BackupTransfers.newIdentifier()
        try unlock?.check(.whileUnlocked)
        let path = folder.passingPath("backup", identifier, place)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: keychain.path, at: path)
        } catch { throw Refusal(error) }
        return try transfers.beginReading(path, identifier, of: place, while: unlock)
    }

    // MARK: Restoring

    private func beginRestore(
        _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> BackupTransfer {
        // Before anything of the asker's is kept; and who sends the rest knows the identifier.
        try provePresence(.restore, place, for: asker)
        try folder.makeFolder(of: place.user)
        let identifier = BackupTransfers.newIdentifier()
        return try transfers.beginWriting(
            folder.passingPath("incoming", identifier, place), identifier, of: place)
    }

    private func restore(
        generation number: Int, _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> RestoredKeychain {
        guard let generation = generations(of: place).first(where: { $0.number == number }) else {
            throw .noSuchKeychain
        }
        try provePresence(.restore, place, for: asker)
        let path = folder.passingPath("incoming", BackupTransfers.newIdentifier(), place)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: generation.path, at: path)
        } catch { throw Refusal(error) }
        return try restore(path, place, for: asker)
    }

    /// The file at the path is used up.
    private func restore(
        _ path: String, _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> RestoredKeychain {
        defer { PrivateFile.removeDatabase(path) }
        try checkClient(asker)
        guard checks.begin(place) else { throw .tooManyRequests }
        defer { checks.end(place) }
        // SQLite holds a whole record at a time, and a file may bring large ones.
        let room = try memory.take(Self.roomToRestore, for: place.user)
        defer { withExtendedLifetime(room) {} }
        let returning = try protectors.returning(path, folder.owner(place.user))
        var restored = RestoredKeychain()
        restored.setAside = returning.setAside
        restored.replaced = try folder.put(returning, place)
        let keychain = try folder.keychain(place.name.description, of: place.user)
        try vault.forget(keychain)
        authentication.forget(place.user)
        return restored
    }

    /// In embedded mode the files are the user's own: there it asks where a password protects what
    /// is in them.
    private func provePresence(
        _ purpose: Question.Purpose, _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) {
        try authorizePresence(
            for: asker,
            Question(
                purpose, names: [place.name.description], itemCount: 1,
                reason: asker.context?.reason),
            unless: {
                guard !isDaemon else { return false }
                let keychain = try? folder.keychain(place.name.description, of: place.user)
                return (try? keychain?.file.isPasswordProtected()) != true
            })
    }
}

/// Work on whole keychains that is done once at a time.
final class KeychainChecks: Sendable {
    private let busy = Mutex<Set<KeychainPlace>>([])

    func begin(_ place: KeychainPlace) -> Bool { busy.withLock { $0.insert(place).inserted } }

    func end(_ place: KeychainPlace) { busy.withLock { _ = $0.remove(place) } }
}
