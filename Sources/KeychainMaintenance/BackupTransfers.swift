// SPDX-License-Identifier: Apache-2.0
package import KeychainVaults
package import KeychainMessages
package import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// Copies on their way to or from their users, one per keychain at a time. The identifier shows the
/// right to a copy: only a client that proved its right has received it.
package final class BackupTransfers: Sendable {
    /// The most bytes of a copy; no keychain grows beyond it.
    private static let most: UInt64 = 8 << 30
    /// A copy that was not used for this long is removed.
    private static let patience: Duration = .seconds(900)

    private final class Turn: Sendable {
        private let lock = Mutex(())

        func take<R: Sendable>(_ body: () throws(RequestError) -> R) throws(RequestError) -> R {
            try lock.withLock { _ throws(RequestError) in try body() }
        }
    }
    private struct Transfer: Sendable {
        let identifier: BackupTransfer.Identifier
        let file: PieceFile
        let isComing: Bool
        /// Serialises the writes to the file and its final use.
        let turn = Turn()
        /// The unlock by which the keychain was open when the copy was made; nil where it was
        /// locked.
        var unlock: UnlockWatch?
        var bytes: UInt64
        var digest = BackupDigest()
        /// A piece that is shorter than the others is the last.
        var isComplete = false
        var used = ContinuousClock.now
    }
    private let transfers = Mutex<[KeychainID: Transfer]>([:])

    package init() {}

    package static func newIdentifier() -> BackupTransfer.Identifier {
        RandomBytes.make(BackupTransfer.identifierBytes)
    }

    /// Registers a copy that was made at the path, to be read while the unlock lasts.
    package func beginReading(
        _ path: String, _ identifier: BackupTransfer.Identifier, of id: KeychainID,
        while unlock: UnlockWatch? = nil
    ) throws(RequestError) -> BackupTransfer {
        do {
            let file = try PieceFile(reading: path)
            let bytes = try file.size()
            begin(
                Transfer(
                    identifier: identifier, file: file, isComing: false, unlock: unlock,
                    bytes: bytes), id)
            return BackupTransfer(identifier: identifier, bytes: bytes)
        } catch { throw RequestError(error) }
    }

    package func read(
        _ identifier: BackupTransfer.Identifier, offset: UInt64, of id: KeychainID
    ) throws(RequestError) -> [UInt8] {
        let transfer = try use(identifier, isComing: false, of: id)
        do throws(RequestError) { try transfer.unlock?.check(.whileUnlocked) } catch {
            end(identifier, of: id)
            throw error
        }
        guard offset <= transfer.bytes else { throw .invalid(.badRequest) }
        let piece: [UInt8]
        do {
            piece = try transfer.file.read(at: offset, count: BackupPiece.mostBytes)
        } catch { throw RequestError(error) }
        // The end has been read.
        // Safe: the offset lies within them.
        if UInt64(clamping: piece.count) >= transfer.bytes - offset { end(identifier, of: id) }
        return piece
    }

    /// Makes a new file at the path, to be filled.
    package func beginWriting(
        _ path: String, _ identifier: BackupTransfer.Identifier, of id: KeychainID
    ) throws(RequestError) -> BackupTransfer {
        do {
            let file = try PieceFile(creating: path)
            begin(Transfer(identifier: identifier, file: file, isComing: true, bytes: 0), id)
            return BackupTransfer(identifier: identifier, bytes: 0)
        } catch { throw RequestError(error) }
    }

    package func write(
        _ identifier: BackupTransfer.Identifier, _ bytes: [UInt8], of id: KeychainID
    ) throws(RequestError) {
        try use(identifier, isComing: true, of: id).turn.take { () throws(RequestError) in
            try writeNext(identifier, bytes, of: id)
        }
    }

    /// Called in its turn: the file may have been taken while it waited.
    private func writeNext(
        _ identifier: BackupTransfer.Identifier, _ bytes: [UInt8], of id: KeychainID
    ) throws(RequestError) {
        let transfer = try use(identifier, isComing: true, of: id)
        guard !transfer.isComplete else { throw .invalid(.badRequest) }
        guard transfer.bytes <= Self.most,
            UInt64(clamping: bytes.count) <= Self.most - transfer.bytes
        else { throw .invalid(.dataTooLarge) }
        do { try transfer.file.write(bytes, at: transfer.bytes) } catch {
            throw RequestError(error)
        }
        try transfers.withLock { transfers throws(RequestError) in
            guard var now = transfers[id], now.identifier == identifier,
                now.bytes == transfer.bytes
            else { throw .invalid(.badRequest) }
            now.bytes += UInt64(clamping: bytes.count)
            now.digest.add(bytes)
            now.isComplete = bytes.count < BackupPiece.mostBytes
            transfers[id] = now
        }
    }

    /// The complete file that was sent, which the caller owns from now on.
    package func finishWriting(
        _ identifier: BackupTransfer.Identifier, digest: [UInt8], of id: KeychainID
    ) throws(RequestError) -> String {
        let transfer = try use(identifier, isComing: true, of: id).turn.take {
            () throws(RequestError) in
            // Includes pieces that were written while this waited.
            let transfer = try use(identifier, isComing: true, of: id)
            transfers.withLock { $0[id] = nil }
            return transfer
        }
        guard transfer.digest.bytes == digest else {
            try? PrivateFile.removeDatabase(transfer.file.path)
            throw .failed(.damaged)
        }
        return transfer.file.path
    }

    /// Removes copies that were not used for a while.
    package func forgetOld() {
        let old = transfers.withLock { transfers in
            let old = transfers.filter { $0.value.used + Self.patience < .now }
            for id in old.keys { transfers[id] = nil }
            return old.values
        }
        for transfer in old { try? PrivateFile.removeDatabase(transfer.file.path) }
    }

    private func begin(_ transfer: Transfer, _ id: KeychainID) {
        let earlier = transfers.withLock { $0.updateValue(transfer, forKey: id) }
        if let earlier { try? PrivateFile.removeDatabase(earlier.file.path) }
    }

    private func end(_ identifier: BackupTransfer.Identifier, of id: KeychainID) {
        let ended = transfers.withLock { transfers -> Transfer? in
            guard transfers[id]?.identifier == identifier else { return nil }
            return transfers.removeValue(forKey: id)
        }
        if let ended { try? PrivateFile.removeDatabase(ended.file.path) }
    }

    private func use(
        _ identifier: BackupTransfer.Identifier, isComing: Bool, of id: KeychainID
    ) throws(RequestError) -> Transfer {
        try transfers.withLock { transfers throws(RequestError) in
            guard var transfer = transfers[id], transfer.identifier == identifier,
                transfer.isComing == isComing
            else { throw .invalid(.badRequest) }
            transfer.used = .now
            transfers[id] = transfer
            return transfer
        }
    }
}
