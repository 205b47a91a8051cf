// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
@testable import KeychainDaemon
import KeychainAccessControl
import KeychainModel
import KeychainPolicyModel
import KeychainSecrets
@testable import KeychainUserPresence
@testable import KeyringStore
import SystemTestSupport
import Testing

/// What outlives a user's worker, in files of its own.
struct SealedRecordsTests {
    private static let user: UInt32 = 1000
    private static let name = "evidence:1"

    private let folder: ScratchFolder
    private let keys = RecordKeysOfTest()
    private let records: SealedRecords

    init() throws {
        folder = try ScratchFolder()
        records = try SealedRecords(folder: folder.path, of: Self.user, key: keys)
    }

    /// As a worker that is started again has them.
    private func again(of user: UInt32 = Self.user) throws -> SealedRecords {
        try SealedRecords(folder: folder.path, of: user, key: keys)
    }

    private func write(
        _ text: String = "proof", as name: String = Self.name, for seconds: UInt32? = 60
    ) throws {
        try records.write(
            name, SecretBytes(copying: Array(text.utf8)), of: Self.user, timeoutSeconds: seconds)
    }

    private func text(_ name: String = Self.name, in records: SealedRecords) -> String? {
        guard let read = records.read(name, of: Self.user) else { return nil }
        return String(decoding: read.releasedFromLockedMemory(), as: UTF8.self)
    }

    private func plain(_ name: String, in records: SealedRecords) -> String? {
        guard let read = records.readPlain(name, of: Self.user) else { return nil }
        return String(decoding: read.releasedFromLockedMemory(), as: UTF8.self)
    }

    @Test func `another process of the user's reads what was written, and what took its place`()
        throws
    {
        try write()
        #expect(try text(in: again()) == "proof")
        try write("another")
        #expect(text(in: records) == "another")
        #expect(try text(in: again()) == "another")
        #expect(folder.names == [Self.name])
        #expect(mode(of: folder(Self.name)) == S_IFREG | 0o600)
    }

    @Test func `the file shows nothing of what is sealed`() throws {
        try write("a very long secret proof")
        let file = try folder.bytes(Self.name)
        #expect(!String(decoding: file, as: UTF8.self).contains("secret"))
    }

    @Test func `a changed, cut or renamed file is no record, and is removed`() throws {
        try write()
        let good = try folder.bytes(Self.name)
        for position in [0, 2, 10, 46, 48, good.count - 1] {
            var bad = good
            bad[position] ^= 1
            try folder.put(Self.name, bad)
            #expect(text(in: records) == nil)
            #expect(try text(in: again()) == nil)
            #expect(folder.names == [])
        }
        for count in [0, 1, 40, good.count - 1] {
            try folder.put(Self.name, Array(good.prefix(count)))
            #expect(try text(in: again()) == nil)
        }
        try folder.put("evidence:2", good)
        #expect(try again().names(of: Self.user) == [])
        #expect(folder.names == [])
    }

    @Test func `a record is its user's`() throws {
        try write()
        let isRead = records.read(Self.name, of: 1001) != nil
        #expect(!isRead)
        #expect(!records.holds(Self.name, of: 1001))
        #expect(throws: RequestError.self) {
            try records.write(
                "x", SecretBytes(random: 8), of: 1001, timeoutSeconds: nil)
        }
        #expect(try again(of: 1001).names(of: 1001) == [])
        #expect(folder.names == [])
    }

    @Test func `without the key that sealed them there are no records, and then no files`() throws {
        try write()
        try records.writePlain("session:1", SecretBytes(copying: [65]), of: Self.user)
        keys.forget()
        #expect(!records.holds(Self.name, of: Self.user))
        #expect(text(in: records) == nil)
        #expect(try records.names(of: Self.user) == ["session:1"])
        // Another key is no better.
        _ = keys.recordKey
        #expect(!records.holds(Self.name, of: Self.user))
        #expect(folder.names.count == 2)
        records.removeOver()
        #expect(folder.names == ["session:1"])
    }

    @Test func `a worker that is given no key, or another one, starts without them`() throws {
        try write()
        keys.forget()
        #expect(try again().names(of: Self.user) == [])
        #expect(folder.names == [])
        try write()
        keys.forget()
        _ = keys.recordKey
        #expect(try again().names(of: Self.user) == [])
        #expect(folder.names == [])
    }

    @Test func `a record past its time is none`() throws {
        try write(for: 0)
        #expect(!records.holds(Self.name, of: Self.user))
        #expect(text(in: records) == nil)
        #expect(try text(in: again()) == nil)
        try write(as: "evidence:2", for: nil)
        #expect(folder.names == ["evidence:2"])
    }

    @Test func `what is plain needs no key, and passes for nothing that is sealed`() throws {
        try records.writePlain(Self.name, SecretBytes(copying: Array("forged".utf8)), of: Self.user)
        #expect(keys.presentRecordKey == nil)
        #expect(try plain(Self.name, in: again()) == "forged")
        #expect(text(in: records) == nil && !records.holds(Self.name, of: Self.user))
        _ = keys.recordKey
        #expect(try text(in: again()) == nil)
        try write(as: "session:1")
        #expect(plain("session:1", in: records) == nil)
        #expect(try plain("session:1", in: again()) == nil)
    }

    @Test(arguments: [
        "trust:ff", "out-of-step:login", "../x", "a/b", ".", "..", ".hidden", "name with spaces",
        "dots.in.it", "#hash", "ü", String(repeating: "n", count: 128),
        String(repeating: "n", count: 255),
    ])
    func `whatever its name, a record is a file in the folder`(name: String) throws {
        try write(as: name)
        #expect(try records.names(of: Self.user) == [name])
        #expect(try text(name, in: again()) == "proof")
        let file = try #require(folder.names.first)
        #expect(folder.names.count == 1 && file.utf8.count <= 128 && !file.contains("."))
        records.remove(name, of: Self.user)
        #expect(folder.names == [] && !records.holds(name, of: Self.user))
    }

    @Test func `what a writer left that was cut short is removed`() throws {
        try folder.put("evidence:1.new-7-8", [1, 2, 3])
        try folder.put("strange", [])
        #expect(try again().names(of: Self.user) == [])
        #expect(folder.names == [])
    }

    @Test func `a user's records have a number and a size`() throws {
        for number in 0..<SealedRecords.most { try write(as: "evidence:\(number)") }
        #expect(throws: RequestError.refused(.tooManyRequests)) { try write(as: "one:more") }
        try write("again", as: "evidence:0")
        #expect(text("evidence:0", in: records) == "again")
        records.remove("evidence:1", of: Self.user)
        try write(as: "one:more")
        #expect(throws: RequestError.self) {
            try write(String(repeating: "x", count: 100 * 1024), as: "evidence:0")
        }
        #expect(throws: RequestError.self) { try write(as: String(repeating: "n", count: 256)) }
        #expect(throws: RequestError.self) { try write(as: "") }
    }

    @Test func `a folder that others can write to, or that can't be made, holds none`() throws {
        chmodOrFail(folder.path, 0o777)
        #expect(throws: RequestError.self) { try again() }
        #expect(throws: RequestError.self) {
            try SealedRecords(folder: "/proc/no/such", of: Self.user, key: keys)
        }
        chmodOrFail(folder.path, 0o700)
    }

    @Test func `proofs and session trust are there for the next worker, and end with the key`()
        throws
    {
        let git = Program("/usr/bin/git", process: 10)
        let records = try again(of: git.caller.user)
        let item = try #require(
            ItemReference(
                itemClass: .genericPassword, identifier: [UInt8](repeating: 1, count: 16)))
        let store = EvidenceStore(keyring: records)
        store.add([.factor(.passcode)], for: git)
        store.trust.allow(item, for: git.caller)
        #expect(folder.names.count == 2)
        let next = EvidenceStore(keyring: try again(of: git.caller.user))
        #expect(next.evidence(for: git).proofs.map(\.method) == [.factor(.passcode)])
        #expect(next.trust.items(for: git.caller) == [item])
        keys.forget()
        #expect(store.evidence(for: git).isEmpty && store.trust.items(for: git.caller).isEmpty)
        #expect(next.evidence(for: git).isEmpty)
        let last = EvidenceStore(keyring: try again(of: git.caller.user))
        #expect(last.evidence(for: git).isEmpty && last.trust.items(for: git.caller).isEmpty)
        #expect(folder.names == [])
    }

    @Test func `the largest proof has room`() throws {
        let git = Program(
            "/" + String(repeating: "\u{1}", count: 4000), process: 10)
        let records = try again(of: git.caller.user)
        let store = EvidenceStore(keyring: records)
        let items = try (0..<20).map { number in
            try #require(
                ItemReference(
                    itemClass: .genericPassword,
                    identifier: [UInt8](repeating: UInt8(200 + number), count: 16)))
        }
        store.add([.factor(.confirm)], for: git, about: items)
        #expect(try records.names(of: git.caller.user).count == 1)
    }
}

extension ScratchFolder {
    fileprivate func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self(name))))
    }

    fileprivate func put(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: self(name)))
        chmodOrFail(self(name), 0o600)
    }
}
