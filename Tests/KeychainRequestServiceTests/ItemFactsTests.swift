// SPDX-License-Identifier: Apache-2.0
@testable import KeychainActivePolicy
import KeychainModel
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

/// What policies are told of an item that is asked for.
@Suite struct ItemFactsTests {
    private func facts(_ change: (inout ItemQuery) -> Void = { _ in }) -> PolicyFacts {
        var query = ItemQuery(.genericPassword)
        change(&query)
        return ItemFacts.of(query, group: "office", keychain: "work")
    }

    @Test func `what a query says is known of the item`() {
        let facts = facts {
            $0.attributes = [.service: .string("mail"), .account: .data(Array("me".utf8))]
            $0.accessible = .afterFirstUnlock
        }
        #expect(facts[.keychain] == .known(["work"]))
        #expect(facts[.accessGroup] == .known(["office"]))
        #expect(facts[.service] == .known(["mail"]))
        #expect(facts[.account] == .known(["me"]))
        let word = ChoiceField.accessible.index(of: "after-first-unlock")
        #expect(word != nil && facts[.accessible] == word.map { .known($0) })
    }

    @Test func `what a query leaves open is unknown, never absent`() {
        let facts = facts()
        for field in [TextField.service, .account, .server, .networkProtocol, .itemLabel, .creator]
        {
            #expect(facts[field] == .unknown, "\(field)")
        }
        #expect(facts[.accessible] == .unknown)
        #expect(facts.flags == .unknown)
        #expect(facts[.exe] == .absent)
    }

    @Test func `a host is known in lower case, a protocol by the name people write`() {
        let facts = facts {
            $0.itemClass = .internetPassword
            $0.attributes = [
                .server: .string("Mail.Example.ORG"), .networkProtocol: .string("htps"),
            ]
        }
        #expect(facts[.server] == .known(["mail.example.org"]))
        #expect(facts[.networkProtocol] == .known(["https"]))
    }

    @Test func `a rule names attributes as people do`() {
        #expect(PolicyEffect.attribute("description") == .itemDescription)
        #expect(PolicyEffect.attribute("protocol") == .networkProtocol)
        #expect(PolicyEffect.attribute("acct") == .account)
        #expect(PolicyEffect.attribute("password") == nil)
        // Two names for one attribute would let an answer keep what a rule takes out.
        #expect(Set(PolicyEffect.attributes.values).count == PolicyEffect.attributes.count)
    }

    @Test func `a rule that redacts an attribute by its name is not doubted`() {
        let names = PolicyEffect.attributes.keys.sorted().joined(separator: ", ")
        func doubts(_ names: String) -> [DiagnosticCode] {
            let text =
                "policy: v1\nname: n\nrules:\n  - {id: a.b, redact: [\(names)], operations: all}\n"
            let file = SourceFile(path: "p.yaml", bytes: Array(text.utf8))
            return LoadedPolicies([[file]], today: 20_000).diagnostics.map(\.code)
        }
        #expect(doubts(names) == [])
        #expect(doubts(names + ", other") == [.unknownAttribute])
    }
}
