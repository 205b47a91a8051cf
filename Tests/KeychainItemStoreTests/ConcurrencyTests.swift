// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import Testing

@testable import KeychainItemStore

@Suite struct ConcurrencyTests {
    @Test func `eight threads add, find, open, change and delete without losing anything`() throws {
        let keychain = try TestKeychain()
        let failures = Tally()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for number in 0..<20 {
                    let account = "\(thread)-\(number)"
                    try keychain.add(generic("mail", account), "secret \(account)")
                    let search = query(.genericPassword, [.account: .string(account)], limit: 1)
                    guard let found = try keychain.find(search).first,
                        try keychain.open(found) == "secret \(account)"
                    else { throw KeychainStoreError.notFound }
                    if number % 2 == 0 { try keychain.update(search, ItemChange(), "new") }
                    if number % 5 == 0 { try keychain.delete(search) }
                }
            } catch { failures.add() }
        }
        #expect(failures.count == 0)
        #expect(try keychain.find(query()).count == 8 * 16)
        #expect(keychain.file.corruptItemCount == 0)
    }

    @Test func `of eight who add the same item one succeeds`() throws {
        let keychain = try TestKeychain()
        let successes = Tally()
        let duplicates = Tally()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                try keychain.add(generic())
                successes.add()
            } catch KeychainStoreError.duplicate { duplicates.add() } catch {}
        }
        #expect(successes.count == 1)
        #expect(duplicates.count == 7)
    }

    @Test func `two openings of one file see each other's items`() throws {
        let keychain = try TestKeychain()
        let other = try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        try keychain.add(generic())
        let groups = [TestKeychain.group]
        #expect(try other.find(query(), groups: groups, keys: keychain.keys()).count == 1)
        _ = try other.delete(
            query(), groups: groups, keys: keychain.keys(), mayDeleteUnread: true
        ) { grant(.delete, $0) }
        #expect(try keychain.find(query()).isEmpty)
    }

    @Test func `a writer that waits too long is told so, and what was acknowledged stays`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "before"), "kept")
        let other = try keychain.writer()
        let hasty = try KeychainFile.open(
            at: keychain.path, owner: TestKeychain.owner, isShared: false)
        #expect(throws: KeychainStoreError.busy) {
            _ = try hasty.delete(
                query(), groups: [TestKeychain.group], keys: keychain.keys(), mayDeleteUnread: true
            ) {
                grant(.delete, $0)
            }
        }
        // A reader waits for no writer.
        let found = try #require(try keychain.find(query()).first)
        #expect(try keychain.open(found) == "kept")
        try other.close()
        try keychain.add(generic("mail", "after"))
        #expect(try keychain.find(query()).map(\.account) == ["before", "after"])
    }

    @Test func `a writer waits for another process and then writes`() throws {
        let keychain = try TestKeychain()
        let other = try keychain.writer()
        let failures = Tally()
        let done = DispatchGroup()
        DispatchQueue.global().async(group: done) {
            do { try keychain.add(generic()) } catch { failures.add() }
        }
        // It can't be done yet, however slow this machine is.
        #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
        try other.close()
        done.wait()
        #expect(failures.count == 0)
        #expect(try keychain.find(query()).count == 1)
    }

    @Test func `a password changed meanwhile by another is not overwritten`() throws {
        let keychain = try TestKeychain()
        let successes = Tally()
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            let changed: Void? = try? keychain.file.setPassword(
                old: secret(TestKeychain.password), new: secret("new \(number)"),
                deviceKey: keychain.deviceKey, deviceSecret: keychain.deviceSecret,
                // Slow enough that all of them have read the keybag before the first writes it.
                cost: .fixed(passes: 2, memoryKiB: 64 * 1024))
            if changed != nil { successes.add() }
        }
        #expect(successes.count == 1)
        let opening = (0..<4).filter { number in
            do {
                _ = try keychain.file.unlock(
                    password: secret("new \(number)"), deviceSecret: nil)
                return true
            } catch { return false }
        }
        #expect(opening.count == 1)
    }
}
