// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
@testable import KeychainVaults
import SystemTestSupport
import Testing

/// Which files beside a keychain's are something of it, by their names.
@Suite struct KeychainRemainsNamesTests {
    private static let digits = String(repeating: "a1", count: 16)
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func remains(of names: [String]) throws -> KeychainRemains {
        for name in names { _ = folder.write(name, "x", mode: 0o600) }
        return try KeychainRemains(of: folder("login.keychain"))
    }

    @Test func `each kind is told apart`() throws {
        let remains = try remains(of: [
            "login.keychain.generation-2", "login.keychain.damaged-1",
            "login.keychain.damaged-1-wal", "login.keychain.incoming-new",
            "login.keychain.backup-\(Self.digits)", "login.keychain-wal",
        ])
        #expect(remains.generations == ["login.keychain.generation-2"])
        #expect(remains.setAside == ["login.keychain.damaged-1", "login.keychain.damaged-1-wal"])
        #expect(remains.incoming == ["login.keychain.incoming-new"])
        #expect(remains.transfers == ["login.keychain.backup-\(Self.digits)"])
        #expect(remains.logs == ["login.keychain-wal"])
        #expect(remains.all.count == 6 && !remains.isEmpty && !remains.isOfTransfersAlone)
    }

    @Test func `another keychain's files, and those that are none, are no remains`() throws {
        let remains = try remains(of: [
            "login.keychain", "login2.keychain.generation-1", "login.keychain-shm",
            "login.keychain.backup-\(Self.digits)-wal", "login.keychain.damaged-x", "x",
        ])
        #expect(remains.isEmpty && remains.isOfTransfersAlone)
    }

    @Test func `copies on their way alone are told from what is left of a keychain`() throws {
        #expect(try remains(of: ["login.keychain.incoming-\(Self.digits)"]).isOfTransfersAlone)
        #expect(try !remains(of: ["login.keychain.generation-1"]).isOfTransfersAlone)
    }

    @Test func `a folder that can't be read may have remains, and one that is missing has none`()
        throws
    {
        let loop = folder("loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(throws: RequestError.failed(.inputOutput)) {
            _ = try KeychainRemains(of: loop + "/login.keychain")
        }
        #expect(try KeychainRemains(of: folder("none") + "/login.keychain").isEmpty)
    }

    @Test func `what is set aside takes a name that no other file has`() throws {
        let path = folder("login.keychain")
        #expect(KeychainRemains.pathAside(path) == path + ".damaged-1")
        _ = try remains(of: ["login.keychain.damaged-1-journal", "login.keychain.damaged-2"])
        #expect(KeychainRemains.pathAside(path) == path + ".damaged-3")
    }

    @Test func `a keychain whose name begins like a copy's is none`() {
        #expect(KeychainRemains.isPassing("a.backup-\(Self.digits)-shm", of: "a"))
        #expect(KeychainRemains.isPassing("a.incoming-new", of: "a"))
        #expect(!KeychainRemains.isPassing("a.backup-\(Self.digits).keychain", of: "a"))
        #expect(!KeychainRemains.isPassing("a.backup-12", of: "a"))
        #expect(!KeychainRemains.isPassing("a.backup-\(Self.digits)", of: "b"))
    }

    @Test func `a file names the keychain that it lies beside`() {
        #expect(KeychainRemains.keychain(of: "work.keychain.generation-1")?.description == "work")
        #expect(
            KeychainRemains.keychain(of: "a.keychain.keychain.damaged-1")?.description
                == "a.keychain")
        #expect(
            KeychainRemains.keychain(of: "a.keychain.keychain-wal")?.description == "a.keychain")
        #expect(KeychainRemains.keychain(of: ".work.keychain.1a2b")?.description == "work")
        #expect(KeychainRemains.keychain(of: "work.keychain") == nil)
        #expect(KeychainRemains.keychain(of: "../x.keychain.damaged-1") == nil)
    }
}
