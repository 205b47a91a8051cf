// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainKernelKeyring
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainVaults

/// Attributes may be large: what a request holds of them is counted and bounded.
@Suite(
    .enabled(
        if: KernelKeyring.isAvailable() && getuid() == 0,
        "tickets are root's keys in the kernel's keyring"))
struct LargeAttributesTests {
    private static let large = 1000 * 1024
    /// So many together are more than a user's requests may hold.
    private static let many = 30

    /// How many items each part of an answer has.
    private func parts(_ login: OpenLogin, _ query: ItemQuery) throws -> [Int] {
        var parts: [Int] = []
        let last = try login.ask(CopyMatching(query)) { parts.append($0.count) }
        return (parts + [last.count]).filter { $0 > 0 }
    }

    @Test func `a part of an answer is cut by the bytes of its attributes too`() throws {
        let login = try OpenLogin()
        try login.fill(5, comment: 150 * 1024)
        #expect(try parts(login, OpenLogin.query([.data, .attributes])) == [2, 2, 1])
        // They have no part in an answer that does not carry them.
        #expect(try parts(login, OpenLogin.query(.data)) == [5])
    }

    @Test(arguments: [nil, 256] as [Int?])
    func `items that fit in no memory together are found, changed and deleted one by one`(
        _ limit: Int?
    ) throws {
        let login = try OpenLogin()
        try login.fill(Self.many, comment: Self.large)
        let query = OpenLogin.query(.attributes, limit: limit)
        #expect(try parts(login, query).count == Self.many)
        var change = ItemChange()
        change.attributes = [.label: .string("changed")]
        let all = OpenLogin.query([])
        #expect(try login.ask(Update(all, change, secret: nil)) == Self.many)
        #expect(try login.ask(Delete(all)) == Self.many)
    }

    @Test func `large attributes wait for memory, and small ones do not`() throws {
        let login = try OpenLogin()
        try login.fill(1, comment: Self.large)
        var small = NewItem(.genericPassword)
        small.attributes = [.service: .string("small")]
        try login.ask(Add(small, secret: nil, returning: []))
        let taken = try login.memory.take(MemoryBudget.mostForUser / 2, for: OpenLogin.user)
        var query = OpenLogin.query(.attributes, limit: 1)
        #expect(throws: RequestError.failed(.outOfMemory)) {
            try login.ask(CopyMatching(query))
        }
        query.attributes[.service] = .string("small")
        #expect(try login.ask(CopyMatching(query)).count == 1)
        withExtendedLifetime(taken) {}
    }

    @Test func `what an answer held is given back after it`() throws {
        let login = try OpenLogin()
        try login.fill(3, comment: Self.large)
        _ = try parts(login, OpenLogin.query([.data, .attributes]))
        let all = try login.memory.take(
            MemoryBudget.mostForUser / 2, for: OpenLogin.user, patience: .zero)
        #expect(all != nil)
    }
}
