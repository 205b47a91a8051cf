// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainPolicyModel
import Testing

@Suite struct PolicyFactsTests {
    @Test func `every field keeps its own fact`() {
        var facts = PolicyFacts()
        for (place, field) in TextField.allCases.enumerated() {
            facts[field] = place % 3 == 0 ? .unknown : .known([PolicyText("\(place)")])
        }
        for field in ChoiceField.allCases { facts[field] = .known(field.rawValue) }
        facts[.protector] = .known(.max)
        for field in BooleanField.allCases { facts[field] = .known(field.rawValue % 2 == 0) }
        facts[.tty] = .unknown
        facts[AgeField.session] = .known(.minutes(1))
        for (place, field) in TextField.allCases.enumerated() {
            #expect(
                facts[field] == (place % 3 == 0 ? .unknown : .known([PolicyText("\(place)")])))
        }
        for field in ChoiceField.allCases where field != .protector {
            #expect(facts[field] == .known(field.rawValue))
        }
        #expect(facts[.protector] == .known(.max))
        for field in BooleanField.allCases where field != .tty {
            #expect(facts[field] == .known(field.rawValue % 2 == 0))
        }
        #expect(facts[.tty] == .unknown)
        #expect(facts[AgeField.session] == .known(.minutes(1)))
        #expect(facts[AgeField.presence] == .absent)
    }

    @Test func `facts that were taken back are those that never were`() {
        var facts = PolicyFacts()
        facts[.exe] = .known(["/bin/a"])
        facts[.session] = .known(3)
        facts[.remote] = .unknown
        #expect(facts != PolicyFacts())
        facts[.exe] = .absent
        facts[ChoiceField.session] = .absent
        facts[.remote] = .absent
        #expect(facts == PolicyFacts())
        #expect(Set([facts, PolicyFacts()]).count == 1)
    }

    @Test func `an item tells its texts in the words of policies`() {
        let item = PolicyItem(
            .internetPassword,
            [
                .server: .string("Mail.Example"), .account: .data(Array("anna".utf8)),
                .networkProtocol: .string("imps"), .synchronizable: .number(1),
                .creator: .number(7), .label: .data([0xFF]),
            ], accessGroup: "org.example", rights: .plain(.afterFirstUnlock), keychain: "login")
        let facts = item.facts
        #expect(facts[.server] == .known(["mail.example"]))
        #expect(facts[.account] == .known(["anna"]))
        #expect(facts[.networkProtocol] == .known(["imaps"]))
        #expect(facts[.creator] == .known(["7"]))
        // What is no text is none.
        #expect(facts[.itemLabel] == .absent)
        #expect(facts[.accessGroup] == .known(["org.example"]))
        #expect(facts[.keychain] == .known(["login"]))
        #expect(facts[.itemClass] == .known(1))
        #expect(
            facts[.accessible]
                == ChoiceField.accessible.index(of: "after-first-unlock")
                .map { .known($0) })
        #expect(facts.flags == .known(PolicyItemFlags(word: "synchronizable") ?? []))
    }

    @Test func `an item's schema is its type`() {
        let item = PolicyItem(
            .attributed, [.schema: .string("org.example.Mail"), .pair("server"): .string("a")],
            accessGroup: "", rights: .plain(.whenUnlocked), keychain: "login")
        #expect(item.facts[.schema] == .known(["org.example.Mail"]))
        #expect(item.facts[.server] == .absent)
    }

    @Test(arguments: ItemClass.allCases)
    func `an item's class is the word of its name`(_ itemClass: ItemClass) {
        let words = [
            ItemClass.genericPassword: "generic-password", .internetPassword: "internet-password",
            .certificate: "certificate", .key: "key",
            .attributed: "attributed",
        ]
        let item = PolicyItem(
            itemClass, [:], accessGroup: "", rights: .plain(.always), keychain: "")
        let place = words[itemClass].flatMap(ChoiceField.itemClass.index)
        #expect(item.facts[.itemClass] == place.map { .known($0) })
    }
}
