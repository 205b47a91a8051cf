// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainMaintenance
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainVaults

/// Copies on their way: only who began one goes on with it, in order, to the last piece.
@Suite final class BackupTransferTests {
    private let folder = NSTemporaryDirectory() + "transfer-" + UUID().uuidString
    private let transfers = BackupTransfers()
    private let place = KeychainID(user: 1, name: .login)
    private let identifier = BackupTransfers.newIdentifier()
    private static let whole = [UInt8](repeating: 7, count: BackupPiece.mostBytes)

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func digest(_ pieces: [[UInt8]]) -> [UInt8] {
        pieces.reduce(into: BackupDigest()) { $0.add($1) }.bytes
    }

    private func beginWriting() throws {
        _ = try transfers.beginWriting(folder + "/in", identifier, of: place)
    }

    @Test func `what was sent in pieces is in the file`() throws {
        try beginWriting()
        try transfers.write(identifier, Self.whole, of: place)
        try transfers.write(identifier, [1, 2, 3], of: place)
        let path = try transfers.finishWriting(
            identifier, digest: digest([Self.whole, [1, 2, 3]]), of: place)
        #expect(
            try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == Self.whole + [1, 2, 3])
    }

    @Test func `what comes while the copy is taken is refused, and not in the file`() throws {
        for _ in 0..<200 {
            try beginWriting()
            try transfers.write(identifier, Self.whole, of: place)
            let late = Thread { [transfers, identifier, place] in
                try? transfers.write(identifier, [1, 2, 3], of: place)
            }
            late.start()
            let path = try? transfers.finishWriting(
                identifier, digest: digest([Self.whole]), of: place)
            while !late.isFinished { Thread.sleep(forTimeInterval: 0.0001) }
            guard let path else { continue }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == Self.whole.count)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `a copy that differs from its digest is damaged, and gone`() throws {
        try beginWriting()
        try transfers.write(identifier, [1, 2, 3], of: place)
        #expect(throws: RequestError.failed(.damaged)) {
            try transfers.finishWriting(identifier, digest: digest([[1, 2, 4]]), of: place)
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/in"))
    }

    @Test func `a transfer goes on for its own keychain and in its own direction only`() throws {
        try beginWriting()
        let other = KeychainID(user: 2, name: .login)
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.write(identifier, [1], of: other)
        }
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.write(BackupTransfers.newIdentifier(), [1], of: place)
        }
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.read(identifier, offset: 0, of: place)
        }
    }

    @Test func `nothing comes behind the last piece`() throws {
        try beginWriting()
        try transfers.write(identifier, [1], of: place)
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.write(identifier, [2], of: place)
        }
    }

    @Test func `a second transfer ends the first`() throws {
        try beginWriting()
        let second = BackupTransfers.newIdentifier()
        _ = try transfers.beginWriting(folder + "/second", second, of: place)
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.write(identifier, [1], of: place)
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/in"))
    }

    @Test func `a copy is read to its end and gone then`() throws {
        let content = Self.whole + Self.whole + [9]
        try Data(content).write(to: URL(fileURLWithPath: folder + "/out"))
        let transfer = try transfers.beginReading(folder + "/out", identifier, of: place)
        #expect(transfer.bytes == UInt64(content.count))
        var read: [UInt8] = []
        while read.count < content.count {
            read += try transfers.read(identifier, offset: UInt64(read.count), of: place)
        }
        #expect(read == content)
        #expect(!FileManager.default.fileExists(atPath: folder + "/out"))
        #expect(throws: RequestError.invalid(.badRequest)) {
            try transfers.read(identifier, offset: 0, of: place)
        }
    }

    @Test func `an offset beyond any file is refused or empty, and no trap`() throws {
        for offset in [UInt64.max, UInt64(Int.max), 1 << 62] {
            try Data([1]).write(to: URL(fileURLWithPath: folder + "/out"))
            _ = try transfers.beginReading(folder + "/out", identifier, of: place)
            let read = try? transfers.read(identifier, offset: offset, of: place)
            #expect(read ?? [] == [])
        }
    }
}
