// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainModel

@Suite struct AttributedTests {
    private func pairs(_ pairs: [String: String]) -> Attributes {
        var attributes: Attributes = [:]
        for (name, value) in pairs { attributes[.pair(name)] = .string(value) }
        return attributes
    }

    @Test func `SecItem knows every class but that of the Secret Service`() throws {
        #expect(
            ItemClass.ofSecItem == [.genericPassword, .internetPassword, .certificate, .key])
        let reference = try #require(
            ItemReference(itemClass: .attributed, identifier: Array(0..<16)))
        #expect(ItemReference(bytes: reference.bytes) == reference)
    }

    @Test(arguments: ["", "a", "user", "xdg:schema", "pair:", "\u{301}x", "labl"])
    func `a pair's name comes back byte for byte`(_ name: String) throws {
        let found = try #require(AttributeName.pair(name).pairName)
        #expect(found.utf8.elementsEqual(name.utf8))
        #expect(ItemClass.attributed.rule(for: .pair(name))?.kind == .string)
        #expect(ItemClass.genericPassword.rule(for: .pair(name)) == nil)
    }

    @Test func `what is no pair has no pair's name`() {
        for name: AttributeName in [.label, .contentType, AttributeName(rawValue: "pair")] {
            #expect(name.pairName == nil)
        }
    }

    @Test func `an item may have as much as is said, and no more`() throws {
        func refusal(_ attributes: Attributes) -> RequestError? {
            do throws(RequestError) { try AttributedLimits.check(attributes) } catch {
                return error
            }
            return nil
        }
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let tooLarge = RequestError.invalid(.dataTooLarge)
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("\($0)", "") })
        #expect(refusal(pairs(many)) == tooLarge)
        #expect(refusal(pairs(many.filter { $0.key != "64" })) == nil)
        for (limit, attribute) in [(256, AttributeName.contentType), (4096, .label)] {
            #expect(refusal([attribute: .string(text(limit))]) == nil)
            #expect(refusal([attribute: .string(text(limit + 1))]) == tooLarge)
        }
        #expect(refusal(pairs([text(256): text(4096)])) == nil)
        #expect(refusal(pairs([text(257): ""])) == tooLarge)
        #expect(refusal(pairs(["a": text(4097)])) == tooLarge)
        let large = Dictionary(uniqueKeysWithValues: (0..<8).map { ("\($0)", text(4095)) })
        #expect(refusal(pairs(large)) == nil)
        #expect(refusal(pairs(large).merging(pairs(["8": ""]))) == tooLarge)
    }

    @Test func `its attributes are texts of known names`() {
        #expect(throws: RequestError.invalid(.badRequest)) {
            try AttributedLimits.check([.pair("a"): .data([1])])
        }
        #expect(throws: RequestError.invalid(.noSuchAttribute)) {
            try AttributedLimits.check([.service: .string("mail")])
        }
    }

    @Test(arguments: [
        ([:], [:], true), (["a": "1"], ["a": "1"], true), (["a": "1"], ["a": "2"], false),
        (["a": "1"], ["a": "1", "b": "2"], false), ([:], ["a": "1"], false),
        (["a": "1", "xdg:schema": "x"], ["a": "1"], true),
        (["a": "1", "xdg:schema": "x"], ["a": "1", "xdg:schema": "y"], false),
        (
            ["a": "1", "xdg:schema": "x"],
            ["a": "1", "xdg:schema": "org.freedesktop.Secret.Generic"], true
        ),
        (["e\u{301}": "1"], ["\u{E9}": "1"], false),
    ])
    func `items are the same by all pairs but a schema that one of them lacks`(
        _ a: [String: String], _ b: [String: String], _ isSame: Bool
    ) {
        #expect(pairs(a).isSameItem(as: pairs(b)) == isSame)
        #expect(pairs(b).isSameItem(as: pairs(a)) == isSame)
    }

    @Test func `pairs that are set take the place of all others, and of pairs alone`() {
        var change = ItemChange()
        change.attributes = pairs(["b": "2"])
        let before = pairs(["a": "1"]).merging([.label: .string("l")])
        #expect(change.applied(to: before).count == 3)
        change.replacesPairs = true
        #expect(change.applied(to: before) == [.pair("b"): .string("2"), .label: .string("l")])
        change.attributes = [:]
        #expect(change.applied(to: before) == [.label: .string("l")])
    }

    @Test(arguments: ["work", "A_1", String(repeating: "x", count: 64)])
    func `an alias has letters and digits`(_ name: String) {
        #expect(KeychainPreferences.isAlias(name))
    }

    @Test(arguments: [
        "", "default", "login", "session", "a b", "a/b", "\u{E9}",
        String(repeating: "x", count: 65),
    ])
    func `what means something by itself is no alias`(_ name: String) {
        #expect(!KeychainPreferences.isAlias(name))
    }
}
