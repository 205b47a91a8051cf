// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainLinuxSystem
package import KeychainMessages
package import KeychainModel
package import KeychainUserPresence
package import KeychainVaults
internal import Synchronization

/// Protects a keychain's items from loss: checks, generations, backups and restores. Each runs for
/// one client, with a keychain of the client's own user; the machine's is root's.
package struct KeychainMaintenance: Sendable {
    /// The bytes that one restore is counted for. A user's restores run one at a time.
    private static let roomToRestore = 40 * 1024 * 1024

    package let transfers = BackupTransfers()
    private let folder: KeychainFolder
    private let vault: any KeyVault
    private let protectors: Protectors
    private let authentication: Authentication
    private let memory: MemoryBudget
    /// False in embedded mode, where the files are the user's own.
    private let isDaemon: Bool
    private let underWay = KeychainsUnderWay()

    package init(
        folder: KeychainFolder, vault: any KeyVault, protectors: Protectors,
        authentication: Authentication, memory: MemoryBudget, isDaemon: Bool
    ) {
        self.folder = folder
        self.vault = vault
        self.protectors = protectors
        self.authentication = authentication
        self.memory = memory
        self.isDaemon = isDaemon
    }

    private func identify(_ name: String?, for client: any Client) throws(RequestError)
        -> KeychainID
    {
        let id = try folder.id(try KeychainFolder.verified(name), of: client.caller.user)
        guard id.name != .system || client.caller.user == 0 else { throw .refused(.notEntitled) }
        return id
    }

    // MARK: Looking

    package func check(
        _ name: String?, repair: Bool, for client: any Client
    ) throws(RequestError) -> KeychainFindings {
        let id = try identify(name, for: client)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        // A check reads every record, so only one runs at a time.
        guard underWay.begin(id) else { throw .refused(.tooManyRequests) }
        defer { underWay.end(id) }
        let keys = try vault.keys(of: keychain)
        var findings: KeychainFindings
        do { findings = try keychain.file.check(repair: repair, keys: keys) } catch {
            throw RequestError(error)
        }
        let leftovers = Leftovers(of: id, in: folder)
        findings.leftovers = leftovers.count
        if repair { leftovers.remove() }
        return findings
    }

    package func generations(
        of name: String?, for client: any Client
    ) throws(RequestError) -> [Generation] {
        generations(of: try identify(name, for: client)).map {
            Generation(
                number: $0.number, made: $0.made / .seconds(1), bytes: UInt64($0.bytes))
        }
    }

    private func generations(of id: KeychainID) -> [KeychainGenerations.Generation] {
        KeychainGenerations(of: folder.filePath(id.name, id.user)).all
    }

    // MARK: Backup

    package func beginBackup(
        of name: String?, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        let id = try identify(name, for: client)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        let watch = UnlockWatch(keychain, vault)
        let unlock = watch.isOpen ? watch : nil
        // A holder of the file can try passwords on it for any length of time.
        try provePresence(.backUp, id, for: client)
        let identifier = BackupTransfers.newIdentifier()
        try unlock?.check(.whileUnlocked)
        let path = folder.passingPath("backup", identifier, id)
        do throws(KeychainStoreError) {
            try KeychainCopy.make(of: keychain.path, at: path)
        } catch { throw RequestError(error) }
        return try transfers.beginReading(path, identifier, of: id, while: unlock)
    }

    package func readBackup(
        of name: String?, _ transfer: BackupTransfer.Identifier, offset: UInt64,
        for client: any Client
    ) throws(RequestError) -> BackupPiece {
        let id = try identify(name, for: client)
        return BackupPiece(try transfers.read(transfer, offset: offset, of: id))
    }

    // MARK: Restoring

    package func beginRestore(
        of name: String?, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        let id = try identify(name, for: client)
        // Asked before any of the client's data is stored; later calls are authorised by the
        // identifier.
        try provePresence(.restore, id, for: client)
        try folder.makeFolder(of: id.user)
        let identifier = BackupTransfers.newIdentifier()
        return try transfers.beginWriting(
            folder.passingPath("incoming", identifier, id), identifier, of: id)
    }

    package func sendRestore(
        of name: String?, _ transfer: BackupTransfer.Identifier, _ piece: [UInt8],
        for client: any Client
    ) throws(RequestError) {
        try transfers.write(transfer, piece, of: try identify(name, for: client))
    }

    package func finishRestore(
        of name: String?, _ transfer: BackupTransfer.Identifier, digest: [UInt8],
        for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        let id = try identify(name, for: client)
        let path = try transfers.finishWriting(transfer, digest: digest, of: id)
        defer { try? PrivateFile.removeDatabase(path) }
        return try restore(from: path, id, for: client)
    }

    package func restore(
        generation number: Int, of name: String?, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        let id = try identify(name, for: client)
        guard let generation = generations(of: id).first(where: { $0.number == number }) else {
            throw .state(.noSuchKeychain)
        }
        try provePresence(.restore, id, for: client)
        return try restore(from: generation.path, id, for: client)
    }

    private func restore(
        from copy: String, _ id: KeychainID, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        try UserPrompts(client, authentication).checkClient()
        guard underWay.begin(id) else { throw .refused(.tooManyRequests) }
        defer { underWay.end(id) }
        // SQLite holds a whole record at a time, and a foreign file may have large ones.
        let room = try memory.take(Self.roomToRestore, for: id.user)
        defer { withExtendedLifetime(room) {} }
        let path = folder.passingPath("incoming", BackupTransfers.newIdentifier(), id)
        defer { try? PrivateFile.removeDatabase(path) }
        let returning = try protectors.returning(copy, at: path, folder.owner(id.user))
        var restored = RestoredKeychain()
        restored.setAside = returning.setAside
        restored.replaced = try folder.put(returning, id)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        try vault.forget(keychain)
        authentication.forget(id.user)
        return restored
    }

    /// In embedded mode the user is asked only where a password protects the file's content.
    private func provePresence(
        _ purpose: Question.Purpose, _ id: KeychainID, for client: any Client
    ) throws(RequestError) {
        try UserPrompts(client, authentication).authorizePresence(
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

/// Keychains with a check or restore under way: one at a time each.
private final class KeychainsUnderWay: Sendable {
    private let busy = Mutex<Set<KeychainID>>([])

    func begin(_ id: KeychainID) -> Bool { busy.withLock { $0.insert(id).inserted } }

    func end(_ id: KeychainID) { busy.withLock { _ = $0.remove(id) } }
}
