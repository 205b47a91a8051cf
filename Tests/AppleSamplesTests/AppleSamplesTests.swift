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
