// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainItemStore
import KeychainModel
import KeychainPolicyModel
@testable import KeychainRequestService
import KeychainUserPresence
import Testing

/// What one question is to be about.
@Suite struct PendingRequirementsTests {
    private static let presence = Requirement(.factor(.presence))
    private static let passcode = Requirement(.factor(.passcode))

    private func item(_ name: String, _ rights: ItemAccessControl = .guarded) -> SealedItem {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string(name)]
        return .new(item, in: "exe:/usr/bin/git", rights)
    }

    @Test func `an item counts once, whatever it needs, and its needs add up`() throws {
        var pending = PendingRequirements(given: Evidence())
        let mail = item("mail")
        try pending.add(Self.presence, for: mail, ofOthers: false, [])
        try pending.add(Self.passcode, for: mail, ofOthers: false, [])
        #expect(pending.items == [mail.reference])
        #expect(pending.names == ["mail"])
        #expect(pending.requirements == [Self.presence, Self.passcode])
        #expect(!pending.hasOthers)
    }

    @Test func `a question names so many items, and is about all of them`() {
        var pending = PendingRequirements(given: Evidence())
        for number in 0..<50 { pending.require(Self.presence, for: item("\(number)")) }
        #expect(pending.items.count == 50)
        #expect(pending.names == (0..<Question.mostNames).map { "\($0)" })
    }

    @Test func `that one of many is another program's is remembered`() throws {
        var pending = PendingRequirements(given: Evidence())
        try pending.add(Self.presence, for: item("a"), ofOthers: true, [])
        try pending.add(Self.presence, for: item("b"), ofOthers: false, [])
        #expect(pending.hasOthers)
    }

    @Test func `a question is about no more items than can be remembered`() throws {
        var pending = PendingRequirements(given: Evidence())
        var refusal: RequestError?
        var count = 0
        while refusal == nil, count < 20_000 {
            do throws(RequestError) {
                try pending.add(Self.presence, for: item("x"), ofOthers: false, [])
                count += 1
            } catch { refusal = error }
        }
        #expect(refusal == .invalid(.dataTooLarge))
        #expect(pending.items.count == count)
    }

    @Test func `items with an application password are told apart from those that need a proof`() {
        let plain = item("plain")
        let sealed = item("sealed", .withPassword)
        var pending = PendingRequirements(given: Evidence())
        pending.note(plain)
        #expect(!pending.usesApplicationPassword)
        pending.note(sealed)
        pending.note(sealed)
        #expect(pending.items.isEmpty)
        #expect(pending.first?.reference == plain.reference)
        #expect(pending.passwordItems == [sealed.reference])
        #expect(pending.passwordNames == ["sealed"])
        #expect(pending.usesApplicationPassword)
    }
}
