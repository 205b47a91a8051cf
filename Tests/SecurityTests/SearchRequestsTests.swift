// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Synchronization
import Testing

@testable import Security

/// A keychain that notes its requests, and finds what a test says.
private final class NotingEndpoint: KeychainEndpoint {
    struct Asked {
        let query: ItemQuery
        /// The identifier of the context.
        let context: [UInt8]?
    }

    private let searches = Mutex<[Asked]>([])
    private let deletions = Mutex<[Asked]>([])
    private let find: @Sendable (ItemQuery) throws(RequestError) -> [Item]

    init(_ find: @escaping @Sendable (ItemQuery) throws(RequestError) -> [Item]) {
        self.find = find
    }

    var asked: [Asked] { searches.withLock { $0 } }
    var deletionsAsked: [Asked] { deletions.withLock { $0 } }
    var deleted: [ItemClass] { deletionsAsked.map(\.query.itemClass) }

    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        let answer: any VerbAnswer
        if let search = verb as? CopyMatching {
            searches.withLock {
                $0.append(Asked(query: search.query, context: context?.identifier))
            }
            answer = try find(search.query)
        } else {
            if let deletion = verb as? Delete {
                deletions.withLock {
                    $0.append(Asked(query: deletion.query, context: context?.identifier))
                }
            }
            answer = 1
        }
        guard let answer = answer as? V.Answer else { throw .failed(.internalError) }
        return answer
    }
}

private func item(
    _ itemClass: ItemClass, _ number: UInt8, _ attributes: Attributes, _ secret: Data? = nil
) -> Item {
    Item(
        reference: ItemReference(itemClass: itemClass, number: UInt128(number)),
        attributes: attributes, accessControl: .plain(.always),
        secret: secret.map { HeldSecret(SecretBytes(copying: Array($0))) })
}

/// The requests that one call makes, and what each of them may ask the user.
@Suite struct SearchRequests {
    private func selection(
        _ query: [String: Any], for call: Selection.Call = .copyMatching
    ) throws -> Selection {
        try Selection(query as CFDictionary, for: call)
    }

    @Test func `identities are read in one context, so that their user is asked once`() throws {
        let endpoint = NotingEndpoint { query in
            guard query.itemClass == .certificate else { return [item(.key, 9, [:])] }
            return [
                item(.certificate, 1, [.publicKeyHash: .data([1])]),
                item(.certificate, 2, [.publicKeyHash: .data([2])]),
            ]
        }
        let all = try selection(["class": "idnt", "m_Limit": "m_LimitAll"])
        for _ in 1...2 {
            let found = try Search(all, returnFields: .attributes, at: endpoint).results()
            #expect(found.count == 2)
        }
        let contexts = endpoint.asked.map(\.context)
        #expect(contexts.count == 6 && !contexts.contains(nil))
        #expect(Set(contexts).count == 2)
    }

    @Test func `a search of one request has no context of its own`() throws {
        let endpoint = NotingEndpoint { _ in [] }
        let passwords = try selection(["class": "genp"])
        #expect(try Search(passwords, returnFields: .data, at: endpoint).results().isEmpty)
        #expect(endpoint.asked.map(\.context) == [nil])
    }

    @Test func `look-ups for a search ask no more than the search itself`() throws {
        let endpoint = NotingEndpoint { _ in
            [item(.certificate, 1, [.issuer: .data([1])], Fixture.leaf)]
        }
        let leaf = try #require(Fixture.certificate(Fixture.leaf))
        let query: [String: Any] = [
            "class": "cert", "m_ItemList": [leaf], "m_Issuers": [Data([2])],
            "u_AuthUI": "u_AuthUIF", "u_OpPrompt": "to sign in",
        ]
        let search = Search(try selection(query), returnFields: .attributes, at: endpoint)
        #expect(try search.results().isEmpty)
        let asked = endpoint.asked.map(\.query)
        // The listed object, the certificates, and the issuers of the one that was found.
        #expect(asked.map(\.authenticationUI) == [.fail, .fail, .skip])
        #expect(asked.map(\.reason) == ["to sign in", "to sign in", nil])
    }

    @Test func `an identity is deleted by its object without a question`() throws {
        let identity = try #require(Fixture.identity)
        let endpoint = NotingEndpoint { _ in [] }
        try deleteItems(selection(["v_Ref": identity], for: .delete), at: endpoint)
        #expect(endpoint.asked.map(\.query.authenticationUI) == [.fail])
        #expect(endpoint.deleted == [.certificate, .key])
        let contexts = (endpoint.asked + endpoint.deletionsAsked).map(\.context)
        #expect(!contexts.contains(nil) && Set(contexts).count == 1)
    }

    @Test(
        arguments: [
            RequestError.refused(.interactionNotAllowed), .refused(.authenticationFailed),
        ])
    func `its key stays where a certificate that asks may need it`(
        _ refusal: RequestError
    ) throws {
        let identity = try #require(Fixture.identity)
        let endpoint = NotingEndpoint { _ throws(RequestError) in throw refusal }
        try deleteItems(selection(["v_Ref": identity], for: .delete), at: endpoint)
        #expect(endpoint.deleted == [.certificate])
    }
}
