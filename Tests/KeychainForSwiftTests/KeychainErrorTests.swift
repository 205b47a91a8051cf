// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import KeychainForSwift

@Suite struct KeychainErrors {
    private let keychain = Keychain(service: freshService())

    @Test func `an error says Apple's status and sentence`() async throws {
        do {
            try await keychain.update("x", for: "joe")
            Issue.record("updated")
        } catch {
            #expect(error.status == errSecItemNotFound)
            let sentence = SecCopyErrorMessageString(errSecItemNotFound, nil) as String?
            #expect(error.message == sentence)
            #expect("\(error)" == "\(error.message) (-25300)")
        }
    }

    @Test func `an item that asks for its user is known to be there, a locked one is not`() throws {
        #expect(try Keychain.exists(after: .refused(.interactionNotAllowed)))
        // As after the last fingerprint was deleted.
        #expect(try Keychain.exists(after: .refused(.authenticationFailed)))
        #expect(try !Keychain.exists(after: .state(.notFound)))
        for refusal in [
            RequestError.state(.locked), .refused(.notEntitled), .failed(.notAvailable),
        ] {
            #expect(throws: KeychainError(refusal)) { try Keychain.exists(after: refusal) }
        }
    }

    @Test(
        arguments: [
            RequestError.failed(.damaged), .failed(.keychainGone), .state(.noSuchKeychain),
        ])
    func `a keychain that can't be opened is no store, as for the item calls`(
        _ refusal: RequestError
    ) {
        #expect(KeychainError(refusal).status == errSecNotAvailable)
    }

    @Test func `code that catches NSError catches it`() async {
        do {
            let call: () async throws -> Void = { try await keychain.update("x", for: "joe") }
            try await call()
            Issue.record("updated")
        } catch let error as NSError {
            #expect(error.domain == NSOSStatusErrorDomain)
            #expect(error.code == Int(errSecItemNotFound))
        }
    }
}
