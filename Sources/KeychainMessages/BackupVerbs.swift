// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Checks every record; with `repair`, sets damaged records aside and repairs the index.
package struct CheckKeychain: Verb {
    package typealias Answer = KeychainFindings
    package static let number: UInt16 = 21

    package let keychain: String?
    package let repair: Bool

    package init(keychain: String?, repair: Bool) {
        self.keychain = keychain
        self.repair = repair
    }

    package var auditName: AuditName { repair ? .repair : .status }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(repair)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        repair = try message.flag()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (KeychainFindings) throws(RequestError) -> Void
    ) throws(RequestError) -> KeychainFindings {
        try handler.handle(self, for: client)
    }
}

/// Lists the generations, the newest first.
package struct ListGenerations: KeychainVerb {
    package typealias Answer = [Generation]
    package static let number: UInt16 = 22

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .status }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: ([Generation]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Generation] {
        try handler.handle(self, for: client)
    }
}

/// Makes a copy, which is then read piece by piece from the beginning.
package struct BeginBackup: KeychainVerb {
    package typealias Answer = BackupTransfer
    package static let number: UInt16 = 23

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .backup }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (BackupTransfer) throws(RequestError) -> Void
    ) throws(RequestError) -> BackupTransfer {
        try handler.handle(self, for: client)
    }
}

package struct ReadBackup: Verb {
    package typealias Answer = BackupPiece
    package static let number: UInt16 = 24

    package let keychain: String?
    package let transfer: BackupTransfer.Identifier
    package let offset: UInt64

    package init(keychain: String?, transfer: BackupTransfer.Identifier, offset: UInt64) {
        self.keychain = keychain
        self.transfer = transfer
        self.offset = offset
    }

    package var auditName: AuditName { .backup }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.bytes.append(raw: transfer)
        message.bytes.append(number: offset)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        transfer = try message.identifier(BackupTransfer.identifierBytes)
        offset = try message.bytes.number(UInt64.self)
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (BackupPiece) throws(RequestError) -> Void
    ) throws(RequestError) -> BackupPiece {
        try handler.handle(self, for: client)
    }
}

/// Begins a restore; the copy is then sent piece by piece.
package struct BeginRestore: KeychainVerb {
    package typealias Answer = BackupTransfer
    package static let number: UInt16 = 25

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .restore }
    package var grantRecord: GrantRecord { .never }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (BackupTransfer) throws(RequestError) -> Void
    ) throws(RequestError) -> BackupTransfer {
        try handler.handle(self, for: client)
    }
}

package struct SendRestore: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 26

    package let keychain: String?
    package let transfer: BackupTransfer.Identifier
    package let piece: [UInt8]

    package init(keychain: String?, transfer: BackupTransfer.Identifier, piece: [UInt8]) {
        self.keychain = keychain
        self.transfer = transfer
        self.piece = piece
    }

    package var auditName: AuditName { .restore }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.bytes.append(raw: transfer)
        message.bytes.append(block: piece)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        transfer = try message.identifier(BackupTransfer.identifierBytes)
        piece = Array(try message.bytes.block())
        guard piece.count <= BackupPiece.mostBytes else { throw MalformedBytes() }
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// Replaces the keychain with the copy that was sent, if the copy is whole.
package struct FinishRestore: Verb {
    package typealias Answer = RestoredKeychain
    package static let number: UInt16 = 27

    package let keychain: String?
    package let transfer: BackupTransfer.Identifier
    package let digest: [UInt8]

    package init(keychain: String?, transfer: BackupTransfer.Identifier, digest: [UInt8]) {
        self.keychain = keychain
        self.transfer = transfer
        self.digest = digest
    }

    package var auditName: AuditName { .restore }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.bytes.append(raw: transfer)
        message.bytes.append(raw: digest)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        transfer = try message.identifier(BackupTransfer.identifierBytes)
        digest = try message.identifier(BackupDigest.byteCount)
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (RestoredKeychain) throws(RequestError) -> Void
    ) throws(RequestError) -> RestoredKeychain {
        try handler.handle(self, for: client)
    }
}

package struct RestoreGeneration: Verb {
    package typealias Answer = RestoredKeychain
    package static let number: UInt16 = 28

    package let keychain: String?
    package let generation: Int

    package init(keychain: String?, generation: Int) {
        self.keychain = keychain
        self.generation = generation
    }

    package var auditName: AuditName { .restore }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(clamping: generation)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        generation = try message.clampedNumber()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (RestoredKeychain) throws(RequestError) -> Void
    ) throws(RequestError) -> RestoredKeychain {
        try handler.handle(self, for: client)
    }
}
