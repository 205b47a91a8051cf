// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

@Suite struct AppleSamples {
    private let server = freshService()
    private let joe = Credentials(username: "joe", password: "secret")

    @Test func `credentials go in, change and go out`() throws {
        #expect(throws: KeychainError.self) { try findCredentials(server: server) }
        try addCredentials(joe, server: server)
        #expect(try findCredentials(server: server) == joe)
        let jane = Credentials(username: "jane", password: "secret 2")
        try updateCredentials(jane, server: server)
        #expect(try findCredentials(server: server) == jane)
        try deleteCredentials(server: server)
        try deleteCredentials(server: server)
        try addUnlockedCredentials(joe, server: server)
        #expect(try findCredentials(server: server) == joe)
    }

    @Test func `credentials that a passcode guards need one`() {
        // This keychain has no password.
        do {
            try addGuardedCredentials(joe, server: server)
            Issue.record("added")
        } catch KeychainError.unhandledError(let status) {
            #expect(status == errSecNotAvailable)
        } catch {
            Issue.record(error)
        }
    }

    @Test func `a query with a prompt reads what needs none`() throws {
        try addCredentials(joe, server: server)
        #expect(try readGuardedCredentials(server: server) == joe)
    }

    @Test func `references are found first, then what is wanted of them`() throws {
        try addCredentials(joe, server: server)
        try addCredentials(Credentials(username: "jane", password: "other"), server: server)
        let passwords = try copyPasswords(server: server)
        #expect(Set(passwords) == [Data("secret".utf8), Data("other".utf8)])
    }

    @Test func `a generated password is kept, and salts differ`() {
        let password = addGeneratedPassword(service: server)
        #expect(copyData(service: server) == password.map { Data($0.utf8) })
        #expect(makeSalt() != makeSalt())
    }

    @Test func `constants serve as keys`() {
        #expect(copyData(service: server) == nil)
        let item =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: server,
                kSecValueData: Data([1, 2]),
            ] as CFDictionary
        #expect(SecItemAdd(item, nil) == errSecSuccess)
        #expect(copyData(service: server) == Data([1, 2]))
    }

    @Test func `rights are made, and errors speak`() throws {
        _ = try makeAccessControl()
        #expect(message(for: errSecDuplicateItem).contains("already exists"))
    }
}
