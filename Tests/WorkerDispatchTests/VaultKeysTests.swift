// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import KeychainModel
import KeychainSecrets
import SystemTestSupport
import Testing

@testable import WorkerDispatch

/// No service manager stores descriptors for the tests: the keys are in files.
@Suite struct VaultKeysTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func keys(
        _ inherited: [(name: String, descriptor: Int32)] = []
    ) throws -> VaultKeys {
        try VaultKeys(inherited: inherited, folder: folder("private"))
    }

    private func memory(_ byte: UInt8) throws -> Descriptor {
        let key = SecretBytes(copying: [UInt8](repeating: byte, count: 32))
        return try SealedMemory.make("test", contents: key)
    }

    private func first(_ keys: VaultKeys, _ user: UInt32) -> UInt8? {
        guard let stored = keys.key(of: user),
            let key = SealedMemory.read(stored.memory, count: 32)
        else { return nil }
        return key.releasedFromLockedMemory().first
    }

    @Test func `a key is there for the next run, and each user has an own one`() throws {
        let one = try keys()
        #expect(one.users.isEmpty && one.key(of: 7) == nil)
        #expect(one.keep(try memory(1), of: 7) == .file)
        #expect(one.keep(try memory(2), of: 8) == .file)
        let next = try keys()
        #expect(next.users == [7, 8])
        #expect(first(next, 7) == 1 && first(next, 8) == 2)
    }

    @Test func `a new key takes the place of the old one, everywhere`() throws {
        let one = try keys()
        for byte: UInt8 in [1, 2] { #expect(one.keep(try memory(byte), of: 7) == .file) }
        #expect(first(one, 7) == 2)
        #expect(first(try keys(), 7) == 2)
    }

    @Test func `a forgotten key is nowhere any more`() throws {
        let one = try keys()
        _ = one.keep(try memory(1), of: 7)
        one.forget(7)
        #expect(one.users.isEmpty)
        #expect(try keys().users.isEmpty)
        #expect(FolderNames.all(in: folder("private")).isEmpty)
    }

    @Test func `what the service manager returns goes before a file, which is removed`() throws {
        _ = try keys().keep(try memory(1), of: 7)
        let stored = try memory(3)
        let next = try keys([("vault-key-7", dup(stored.number)), ("another", dup(0))])
        #expect(first(next, 7) == 3)
        #expect(FolderNames.all(in: folder("private")).isEmpty)
    }

    @Test func `a key of another boot, or one that is cut, is none`() throws {
        _ = try keys().keep(try memory(1), of: 7)
        let path = folder("private/vault-key-7")
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[0] ^= 1
        try bytes.write(to: URL(filePath: path))
        #expect(try keys().users.isEmpty)
        _ = try keys().keep(try memory(1), of: 7)
        try Data(contentsOf: URL(filePath: path)).dropLast().write(to: URL(filePath: path))
        #expect(try keys().users.isEmpty)
    }
}
