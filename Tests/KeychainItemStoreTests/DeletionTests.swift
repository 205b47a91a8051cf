// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainItemStore

/// Deletions of a whole keychain, and those that fail on the way.
@Suite struct DeletionTests {
    private let keychain: TestKeychain
    private var generations: KeychainGenerations { KeychainGenerations(of: keychain.path) }

    init() throws {
        keychain = try TestKeychain()
        try keychain.add(generic("mail", "first"))
    }

    private func delete(
        removing: () throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) {
        try keychain.file.delete(removing: removing)
    }

    private func unlink() { try? FileManager.default.removeItem(atPath: keychain.path) }

    @Test func `a keychain that is deleted is a generation, and the newest three stay`() throws {
        for _ in 1...3 { try generations.keep() }
        try delete { () throws(KeychainStoreError) in unlink() }
        #expect(generations.all.map(\.number) == [4, 3, 2])
        #expect(throws: KeychainStoreError.busy) { try keychain.file.setLabel("late") }
    }

    @Test func `a keychain that can't be deleted is as before`() throws {
        for _ in 1...3 { try generations.keep() }
        for _ in 1...4 {
            #expect(throws: KeychainStoreError.diskFull) {
                try delete { () throws(KeychainStoreError) in throw .diskFull }
            }
        }
        #expect(generations.all.map(\.number) == [3, 2, 1])
        try keychain.add(generic("mail", "second"))
        #expect(try keychain.find(query()).count == 2)
    }

    @Test func `a file that has lost its name takes no more writes, whatever failed then`() throws {
        #expect(throws: KeychainStoreError.inputOutput(0)) {
            try delete { () throws(KeychainStoreError) in
                unlink()
                throw .inputOutput(0)
            }
        }
        #expect(throws: KeychainStoreError.busy) { try keychain.file.setLabel("late") }
        #expect(throws: KeychainStoreError.busy) { try keychain.file.serving(1).setLabel("late") }
        #expect(generations.all.count == 1)
    }
}
