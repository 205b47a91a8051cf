// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLinuxSystem

/// A backup as its user keeps it: 64 bytes that say what follows, then the copy of the keychain's
/// file, as sealed as that one.
///
/// "KCBACKUP" ‖ version (4, little end first) ‖ 4 zeros ‖ length of the copy (8) ‖ its digest (32) ‖
/// 8 zeros.
struct BackupFile {
    static let headerBytes = 64
    private static let magic = Array("KCBACKUP".utf8)
    private static let version: UInt32 = 1

    enum Failure: Error {
        case notABackup
        case newerVersion
        case damaged
        case system(SystemError)
    }

    private let file: PieceFile
    let bytes: UInt64
    let digest: [UInt8]

    /// Refuses a file that is not whole to the last bit.
    init(verifying path: String) throws(Failure) {
        let header: [UInt8]
        let size: UInt64
        do throws(SystemError) {
            file = try PieceFile(reading: path)
            header = try file.read(at: 0, count: Self.headerBytes)
            size = try file.size()
        } catch { throw error == .malformed ? .notABackup : .system(error) }
        guard header.count == Self.headerBytes, header.starts(with: Self.magic) else {
            throw .notABackup
        }
        bytes = Self.number(header[16..<24])
        digest = Array(header[24..<56])
        guard Self.number(header[8..<12]) <= Self.version else { throw .newerVersion }
        // Read and measured one after the other: the file may have become shorter between.
        guard header == Self.header(bytes: bytes, digest: digest), size >= UInt64(Self.headerBytes),
            size - UInt64(Self.headerBytes) == bytes
        else { throw .damaged }
        var found = BackupDigest()
        for offset in pieceOffsets { found.add(try piece(at: offset)) }
        guard found.bytes == digest else { throw .damaged }
    }

    /// Where the copy's pieces begin; the last is shorter than the others, and may be empty.
    var pieceOffsets: StrideThrough<UInt64> {
        stride(from: 0, through: bytes, by: BackupPiece.mostBytes)
    }

    func piece(at offset: UInt64) throws(Failure) -> [UInt8] {
        do {
            return try file.read(
                at: UInt64(Self.headerBytes) + offset, count: BackupPiece.mostBytes)
        } catch { throw .system(error) }
    }

    static func header(bytes: UInt64, digest: [UInt8]) -> [UInt8] {
        magic + little(UInt64(version)) + little(bytes) + digest
            + [UInt8](repeating: 0, count: 8)
    }

    private static func little(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
