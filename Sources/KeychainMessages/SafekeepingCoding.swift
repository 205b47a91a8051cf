// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainWire

extension Safekeeping {
    private typealias Piece = WireClientMessage.Safekeeping.Piece

    var wire: WireClientMessage.Safekeeping {
        var wire = WireClientMessage.Safekeeping()
        switch self {
        case .check(let repair): wire.check = repair
        case .generations: wire.generations = .init()
        case .beginBackup: wire.beginBackup = .init()
        case .readBackup(let identifier, let offset):
            wire.readBackup = Self.piece(identifier, offset: offset)
        case .beginRestore: wire.beginRestore = .init()
        case .sendRestore(let identifier, let bytes):
            wire.sendRestore = Self.piece(identifier, bytes: bytes)
        case .finishRestore(let identifier, let digest):
            wire.finishRestore = Self.piece(identifier, bytes: digest)
        case .restoreGeneration(let number):
            wire.restoreGeneration = UInt32(clamping: number)
        }
        return wire
    }

    init(_ wire: WireClientMessage.Safekeeping) throws(MessageError) {
        switch wire.step {
        case .check(let repair): self = .check(repair: repair)
        case .generations: self = .generations
        case .beginBackup: self = .beginBackup
        case .readBackup(let piece):
            self = .readBackup(try Self.identifier(piece), offset: piece.offset)
        case .beginRestore: self = .beginRestore
        case .sendRestore(let piece):
            guard piece.bytes.count <= Self.pieceBytes else { throw .malformed }
            self = .sendRestore(try Self.identifier(piece), bytes: .init(piece.bytes))
        case .finishRestore(let piece):
            guard piece.bytes.count == BackupDigest.byteCount else { throw .malformed }
            self = .finishRestore(try Self.identifier(piece), digest: .init(piece.bytes))
        case .restoreGeneration(let number): self = .restoreGeneration(Int(clamping: number))
        case nil: throw .malformed
        }
    }

    private static func piece(
        _ identifier: [UInt8], offset: UInt64 = 0, bytes: [UInt8] = []
    ) -> Piece {
        var piece = Piece()
        piece.identifier = .init(identifier)
        piece.offset = offset
        piece.bytes = .init(bytes)
        return piece
    }

    private static func identifier(_ piece: Piece) throws(MessageError) -> [UInt8] {
        guard piece.identifier.count == BackupTransfer.identifierBytes else { throw .malformed }
        return .init(piece.identifier)
    }
}

extension Safekept {
    var wire: WireServerMessage.Safekept {
        var wire = WireServerMessage.Safekept()
        if let findings { wire.findings = findings.wire }
        wire.generations = generations.map { generation in
            var wire = WireServerMessage.Generation()
            wire.number = UInt32(clamping: generation.number)
            wire.made = generation.made
            wire.bytes = generation.bytes
            return wire
        }
        if let transfer {
            wire.transfer = .init(transfer.identifier)
            wire.transferBytes = transfer.bytes
        }
        wire.piece = .init(piece)
        wire.replaced = UInt32(clamping: replaced)
        wire.setAside = UInt64(clamping: setAside)
        return wire
    }

    init(_ wire: WireServerMessage.Safekept) throws(MessageError) {
        self.init()
        findings = wire.hasFindings ? KeychainFindings(wire.findings) : nil
        generations = wire.generations.map {
            Generation(number: Int(clamping: $0.number), made: $0.made, bytes: $0.bytes)
        }
        if wire.hasTransfer {
            transfer = BackupTransfer(
                identifier: .init(wire.transfer), bytes: wire.transferBytes)
        }
        piece = .init(wire.piece)
        replaced = Int(clamping: wire.replaced)
        setAside = Int(clamping: wire.setAside)
    }
}

extension KeychainFindings {
    fileprivate var wire: WireServerMessage.Findings {
        var wire = WireServerMessage.Findings()
        wire.isStructureWhole = isStructureWhole
        wire.whole = UInt64(clamping: whole)
        wire.sealed = UInt64(clamping: sealed)
        wire.damaged = UInt64(clamping: damaged)
        wire.misindexed = UInt64(clamping: misindexed)
        wire.strayEntries = UInt64(clamping: strayEntries)
        wire.quarantined = UInt64(clamping: quarantined)
        wire.leftovers = UInt64(clamping: leftovers)
        return wire
    }

    fileprivate init(_ wire: WireServerMessage.Findings) {
        self.init()
        isStructureWhole = wire.isStructureWhole
        whole = Int(clamping: wire.whole)
        sealed = Int(clamping: wire.sealed)
        damaged = Int(clamping: wire.damaged)
        misindexed = Int(clamping: wire.misindexed)
        strayEntries = Int(clamping: wire.strayEntries)
        quarantined = Int(clamping: wire.quarantined)
        leftovers = Int(clamping: wire.leftovers)
    }
}
