// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import Testing

@testable import KeychainCommands

enum TemporaryFolder {
    static func make() throws -> String {
        let folder =
            (ProcessEnvironment["TMPDIR"] ?? "/tmp") + "/commands-\(UInt64.random(in: 0...(.max)))"
        try PrivateFile.folder(folder, mode: 0o700)
        return folder
    }
}

@Suite struct PassStoreTests {
    private func withStore(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { FolderNames.remove(folder) }
        for file in ["mail.gpg", "web/a.gpg", "web/notes.txt", "web/b.gpg/c.gpg", ".git/x.gpg"] {
            let path = folder + "/store/" + file
            try PrivateFile.folder(String(path[..<path.lastIndex(of: "/")!]), mode: 0o700)
            _ = try GrowingFile(path)
        }
        try body(folder)
    }

    @Test func `the entries of a store are its files, by their names`() throws {
        try withStore { folder in
            let store = PassStore(folder + "/store")
            #expect(store?.entries == ["mail", "web/a", "web/b.gpg/c"])
            #expect(store?.passedOver == [])
        }
    }

    @Test func `a link is not followed, and said`() throws {
        try withStore { folder in
            try PrivateFile.folder(folder + "/other", mode: 0o700)
            _ = try GrowingFile(folder + "/other/foreign.gpg")
            try link(folder + "/store/x", to: ".")
            try link(folder + "/store/y", to: ".")
            try link(folder + "/store/out", to: "../other")
            try link(folder + "/store/web/f.gpg", to: "../../other/foreign.gpg")
            let store = PassStore(folder + "/store")
            #expect(store?.entries == ["mail", "web/a", "web/b.gpg/c"])
            #expect(store?.passedOver == ["out", "web/f.gpg", "x", "y"])
            // The store itself may lie elsewhere.
            try link(folder + "/link", to: "store")
            #expect(PassStore(folder + "/link")?.entries.count == 3)
        }
    }

    @Test func `a store with too many entries is none`() throws {
        try withStore { folder in
            #expect(PassStore(folder + "/store", most: 3) != nil)
            #expect(PassStore(folder + "/store", most: 2) == nil)
        }
    }
}

@Suite struct ImportReceiptTests {
    @Test func `a number has one receipt`() throws {
        let folder = try TemporaryFolder.make()
        defer { FolderNames.remove(folder) }
        let receipt = try ImportReceipt(number: 100_000_000, in: folder + "/imports")
        #expect(throws: SystemError.system(EEXIST)) {
            try ImportReceipt(number: 100_000_000, in: folder + "/imports")
        }
        // Nor is one written through a link.
        try link(folder + "/imports/100000001.txt", to: folder + "/elsewhere")
        #expect(throws: SystemError.system(EEXIST)) {
            try ImportReceipt(number: 100_000_001, in: folder + "/imports")
        }
        #expect(FolderNames.all(in: folder) == ["imports"])
        #expect(receipt.path == folder + "/imports/100000000.txt")
    }
}

private func link(_ path: String, to target: String) throws {
    // Safe: the call reads texts that end, which live until it returns.
    let done = unsafe symlink(target, path)
    try #require(done == 0)
}
