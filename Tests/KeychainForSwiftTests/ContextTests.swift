// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainForSwift
import LocalAuthentication
import Testing

/// What a context brings into a keychain's calls.
@Suite struct Contexts {
    private let service = freshService()

    private func keychain(_ context: LAContext?) -> Keychain {
        Keychain(
            service: service, protection: .requiring(.applicationPassword), context: context)
    }

    private func context(password: String) -> LAContext {
        let context = LAContext()
        context.setCredential(Data(password.utf8), type: .applicationPassword)
        context.interactionNotAllowed = true
        return context
    }

    @Test func `an item that was added in a context opens in one like it`() async throws {
        let right = keychain(context(password: "right"))
        try await right.insert("secret", for: "joe")
        #expect(try await right.find("joe") == "secret")
        try await right.update("new", for: "joe")
        #expect(try await keychain(context(password: "right")).find("joe") == "new")
        #expect(try await right.contains("joe"))
        #expect(try await right.remove("joe"))
    }

    @Test func `another context's password does not open it`() async throws {
        try await keychain(context(password: "right")).insert("secret", for: "joe")
        let wrong = context(password: "wrong")
        await #expect(throws: KeychainError(status: errSecInteractionNotAllowed)) {
            _ = try await keychain(wrong).find("joe", as: String.self)
        }
        #expect(!wrong.isCredentialSet(.applicationPassword))
    }

    @Test func `without a password no question is asked where none may be`() async throws {
        try await keychain(context(password: "right")).insert("secret", for: "joe")
        let quiet = LAContext()
        quiet.interactionNotAllowed = true
        await #expect(throws: KeychainError(status: errSecInteractionNotAllowed)) {
            _ = try await keychain(quiet).find("joe", as: String.self)
        }
    }

    @Test func `in a context that has ended nothing opens`() async throws {
        let context = context(password: "right")
        let ended = keychain(context)
        try await ended.insert("secret", for: "joe")
        context.invalidate()
        await #expect(throws: KeychainError(status: errSecAuthFailed)) {
            _ = try await ended.find("joe", as: String.self)
        }
        await #expect(throws: KeychainError(status: errSecAuthFailed)) {
            _ = try await ended.contains("joe")
        }
        await #expect(throws: KeychainError(status: errSecAuthFailed)) {
            try await ended.insert("secret", for: "jane")
        }
    }
}
