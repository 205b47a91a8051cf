// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainForSwift
import Testing

private struct Token: Codable, KeychainValue, Equatable {
    var access: String
    var scopes: [String]
}

@Suite struct KeychainValues {
    private let keychain = Keychain(service: freshService())

    @Test(arguments: ["", "p\u{e4}ss\u{0}word \u{1f511}"])
    func `a text comes back as it was`(text: String) async throws {
        try await keychain.set(text, for: "joe")
        #expect(try await keychain.find("joe") == text)
        #expect(try await keychain.find("joe") == Data(text.utf8))
    }

    @Test func `data comes back as it was, and is no text`() async throws {
        let data = Data([0, 0xff, 0xfe, 0])
        try await keychain.set(data, for: "joe")
        #expect(try await keychain.find("joe") == data)
        await #expect(throws: KeychainError(status: errSecDecode)) {
            try await keychain.find("joe", as: String.self)
        }
    }

    @Test func `a codable value comes back as it was`() async throws {
        let token = Token(access: "a\"b", scopes: ["mail", "files"])
        try await keychain.set(token, for: "joe")
        #expect(try await keychain.find("joe") == token)
        try await keychain.set("no token", for: "joe")
        await #expect(throws: KeychainError(status: errSecDecode)) {
            try await keychain.find("joe", as: Token.self)
        }
    }

    @Test func `a secret stays in locked memory and says nothing of itself`() async throws {
        let secret = Keychain.Secret.random(count: 32)
        #expect(secret != Keychain.Secret.random(count: 32))
        try await keychain.set(secret, for: "key")
        let found = try #require(try await keychain.find("key", as: Keychain.Secret.self))
        #expect(found == secret)
        #expect(found.withBytes { $0.byteCount } == 32)
        #expect("\(found)" == "Keychain.Secret")
    }

    @Test func `more data than an item may have is refused`() async throws {
        let most = 32 * 1024 * 1024
        await #expect(throws: KeychainError(status: errSecDataTooLarge)) {
            try await keychain.set(Data(count: most + 1), for: "joe")
        }
        #expect(try await !keychain.contains("joe"))
    }
}
