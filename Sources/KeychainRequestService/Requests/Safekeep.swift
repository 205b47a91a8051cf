// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import Foundation
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import Synchronization

/// What keeps a keychain's items from being lost: checks, backups, generations.
extension KeychainService {
    /// Bytes that one restore is counted for: a user's own are done one at a time.
    private static let roomToRestore = 40 * 1024 * 1024

    func safekeep(
        _ name: String?, _ step: Safekeeping, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let name = try KeychainFolder.verified(name)
        let place = try folder.place(name, of: asker.caller.user)
        guard place.name != .system || asker.caller.user == 0 else { throw .notEntitled }
        var kept = Safekept()
        switch step {
        case .check(let repair): kept.findings = try check(place, repair: repair, for: asker)
        case .generations:
            kept.generations = generations(of: place).map {
                .init(
                    number: $0.number, made: $0.made.timeIntervalSince1970,
                    bytes: UInt64($0.bytes))
            }
        case .beginBackup: kept.transfer = try beginBackup(place, for: asker)
        case .readBackup(let identifier, let offset):
            kept.piece = try transfers.read(identifier, offset: offset, of: place)
        case .beginRestore: kept.transfer = try beginRestore(place, for: asker)
        case .sendRestore(let identifier, let bytes):
            try transfers.write(identifier, bytes, of: place)
        case .finishRestore(let identifier, let digest):
            let path = try transfers.finishWriting(identifier, digest: digest, of: place)
            try restore(path, place, into: &kept, for: asker)
        case .restoreGeneration(let number):
            try restore(generation: number, place, into: &kept, for: asker)
        }
        var answer = Answer()
        answer.safekept = kept
        return answer
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
            audit?.record(.repair, asker, Evidence(), nil)
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
        let evidence = try provePresence(.backUp, place, for: asker)
        let identifier = BackupTransfers.newIdentifier()
        try unlock?.check(.whileUnlocked)
        let path = folder.passingPath("backup", identifier, place)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: keychain.path, at: path)
        } catch { throw Refusal(error) }
        audit?.record(.backup, asker, evidence, nil)
        return try transfers.beginReading(path, identifier, of: place, while: unlock)
    }

    // MARK: Restoring

    private func beginRestore(
        _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> BackupTransfer {
        // Before anything of the asker's is kept; and who sends the rest knows the identifier.
        _ = try provePresence(.restore, place, for: asker)
        try folder.makeFolder(of: place.user)
        let identifier = BackupTransfers.newIdentifier()
        return try transfers.beginWriting(
            folder.passingPath("incoming", identifier, place), identifier, of: place)
    }

    private func restore(
        generation number: Int, _ place: KeychainPlace, into kept: inout Safekept,
        for asker: any Asker
    ) throws(Refusal) {
        guard let generation = generations(of: place).first(where: { $0.number == number }) else {
            throw .noSuchKeychain
        }
        _ = try provePresence(.restore, place, for: asker)
        let path = folder.passingPath("incoming", BackupTransfers.newIdentifier(), place)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: generation.path, at: path)
        } catch { throw Refusal(error) }
        try restore(path, place, into: &kept, for: asker)
    }

    /// The file at the path is used up.
    private func restore(
        _ path: String, _ place: KeychainPlace, into kept: inout Safekept, for asker: any Asker
    ) throws(Refusal) {
        defer { PrivateFile.removeDatabase(path) }
        guard checks.begin(place) else { throw .tooManyRequests }
        defer { checks.end(place) }
        // SQLite holds a whole record at a time, and a file may bring large ones.
        let room = try memory.take(Self.roomToRestore, for: place.user)
        defer { withExtendedLifetime(room) {} }
        let returning = try protectors.returning(path, folder.owner(place.user))
        kept.setAside = returning.setAside
        kept.replaced = try folder.put(returning, place)
        let keychain = try folder.keychain(place.name.description, of: place.user)
        try vault.forget(keychain)
        authentication.forget(place.user)
        audit?.record(.restore, asker, Evidence(), nil)
    }

    /// In embedded mode the files are the user's own: there it asks where a password protects what
    /// is in them.
    private func provePresence(
        _ purpose: Question.Purpose, _ place: KeychainPlace, for asker: any Asker
    ) throws(Refusal) -> Evidence {
        if mode == .embedded {
            let keychain = try? folder.keychain(place.name.description, of: place.user)
            guard (try? keychain?.file.isPasswordProtected()) == true else { return Evidence() }
        }
        guard authentication.mayAsk(.allow, for: asker) else { throw .interactionNotAllowed }
        // What was proven before was for something else.
        return try authentication.satisfy(
            Requirement(.factor(.presence)),
            Question(
                purpose, names: [place.name.description], itemCount: 1,
                reason: asker.context?.reason),
            given: Evidence(), for: asker)
    }
}

/// Work on whole keychains that is done once at a time.
final class KeychainChecks: Sendable {
    private let busy = Mutex<Set<KeychainPlace>>([])

    func begin(_ place: KeychainPlace) -> Bool { busy.withLock { $0.insert(place).inserted } }

    func end(_ place: KeychainPlace) { busy.withLock { _ = $0.remove(place) } }
}
