// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Items with pairs of any names.
@Suite struct AttributedTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    static func pairs(_ pairs: [String: String]) -> Attributes {
        var attributes: Attributes = [:]
        for (name, value) in pairs { attributes[.pair(name)] = .string(value) }
        return attributes
    }

    @discardableResult
    private func add(
        _ pairs: [String: String], _ text: String? = "s3cret", group: String = TestKeychain.group,
        trusting list: TrustList? = nil
    ) throws -> ItemReference {
        var item = NewItem(.attributed)
        item.attributes = Self.pairs(pairs)
        return try keychain.add(item, text, group: group, trusting: list).reference
    }

    private func find(_ pairs: [String: String]) throws -> [ItemReference] {
        try keychain.find(query(.attributed, Self.pairs(pairs))).map(\.reference)
    }

    private func search(
        _ pairs: [String: String], state: TestKeychain.State = .unlocked,
        groups: [String] = [TestKeychain.group], own: [String] = [TestKeychain.group]
    ) throws -> [AttributedCandidate] {
        try search(pairs, state: state, in: .groups(groups), sealed: .groups(own))
    }

    private func search(
        _ pairs: [String: String], state: TestKeychain.State, in scope: SearchScope,
        sealed: SearchScope
    ) throws -> [AttributedCandidate] {
        var found: [AttributedCandidate] = []
        try keychain.file.forEachAttributed(
            query(.attributed, Self.pairs(pairs)), in: scope, sealed: sealed,
            keys: keychain.keys(state)
        ) {
            found.append($0)
            return true
        }
        return found
    }

    @Test func `an item of two pairs is found once in a group that is named twice`() throws {
        let pairs = ["user": "zoe", "server": "example.org"]
        let item = try add(pairs)
        let twice = [TestKeychain.group, TestKeychain.group]
        let found = try keychain.find(query(.attributed, Self.pairs(pairs)), groups: twice)
        #expect(found.map(\.reference) == [item])
    }

    // MARK: Dates

    private func dates(_ attributes: Attributes) throws -> (created: Double, modified: Double) {
        var item = NewItem(.attributed)
        item.attributes = attributes
        let added = try keychain.add(item, "s3cret", group: TestKeychain.group)
        guard case .date(let created)? = added.attributes[.creationDate],
            case .date(let modified)? = added.attributes[.modificationDate]
        else { throw KeychainStoreError.badChange }
        return (created, modified)
    }

    @Test func `an item that is brought keeps its dates, and none of them lies ahead`() throws {
        let now = Date().timeIntervalSinceReferenceDate
        #expect(try dates([.creationDate: .date(-60), .modificationDate: .date(7)]) == (-60, 7))
        #expect(try dates([.creationDate: .date(60)]) == (60, 60))
        let ahead = try dates([
            .creationDate: .date(now + 900), .modificationDate: .date(.infinity),
        ])
        #expect(ahead.created < now + 60 && ahead.modified == ahead.created)
        let own = try dates([:])
        #expect(own.created >= now - 1 && own.modified == own.created)
    }

    @Test func `of the other classes the store says the dates`() throws {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("a"), .creationDate: .date(7)]
        let added = try keychain.add(item, "s3cret", group: TestKeychain.group)
        #expect(added.attributes[.creationDate] != .date(7))
    }

    // MARK: Searching

    @Test func `an item is found by every pair and by several, and by no other bytes`() throws {
        let mail = try add(["user": "zoe", "server": "mail", "empty": ""])
        let chat = try add(["user": "zoe", "server": "chat"])
        #expect(try find(["user": "zoe"]) == [mail, chat])
        #expect(try find(["server": "chat", "user": "zoe"]) == [chat])
        #expect(try find(["empty": ""]) == [mail])
        #expect(try find([:]) == [mail, chat])
        #expect(try find(["user": "Zoe"]).isEmpty)
        #expect(try find(["User": "zoe"]).isEmpty)
        #expect(try find(["user": "zoe", "other": "x"]).isEmpty)
        #expect(try keychain.find(query()).isEmpty)
    }

    @Test func `two items may have the same pairs`() throws {
        let first = try add(["user": "zoe"], "1")
        let second = try add(["user": "zoe"], "2")
        #expect(try find(["user": "zoe"]) == [first, second])
        #expect(try keychain.file.check(repair: false, keys: keychain.keys()).isClean)
    }

    @Test(arguments: [2, 3, 5])
    func `what each of several lists has is met once, in order`(_ count: Int) throws {
        var expected: [ItemReference] = []
        for number in 0..<200 {
            var pairs: [String: String] = [:]
            for place in 1...count where number % (place + 1) == 0 { pairs["p\(place)"] = "x" }
            let reference = try add(pairs)
            if pairs.count == count { expected.append(reference) }
        }
        let wanted = (1...count).map { ("p\($0)", "x") }
        #expect(try find(Dictionary(uniqueKeysWithValues: wanted)) == expected)
        #expect(!expected.isEmpty)
    }

    @Test func `a pair that all have does not make the rarest one dearer`() throws {
        for number in 0..<300 { try add(["all": "x", "one": "\(number)"]) }
        let plan = SearchPlan(
            query(.attributed, Self.pairs(["all": "x", "one": "250"])),
            groups: [TestKeychain.group], keychain.keys())
        #expect(!plan.isOneStatement)
        let rows = try keychain.file.reading { database in
            var candidates = try plan.candidates(after: 0, database)
            var rows: [Int64] = []
            while let row = try candidates.next(database) { rows.append(row) }
            return rows
        }
        #expect(rows == [251])
    }

    // MARK: While it is locked

    @Test func `the index alone tells which items are meant while the keychain is locked`() throws {
        let mail = try add(["user": "zoe", "server": "mail"])
        try add(["user": "zoe", "server": "chat"])
        let found = try search(["server": "mail"], state: .locked)
        guard found.count == 1, case .sealed(mail, isWhole: false) = found[0] else {
            Issue.record("\(found)")
            return
        }
        let whole = try search(["user": "zoe", "server": "mail"], state: .locked)
        guard case .sealed(mail, isWhole: true)? = whole.first else {
            Issue.record("\(whole)")
            return
        }
        #expect(try search(["server": "none"], state: .locked).isEmpty)
    }

    @Test func `of items that don't open those of the own groups are met`() throws {
        try add(["user": "zoe"], group: "exe:/usr/bin/chat")
        let groups = [TestKeychain.group, "exe:/usr/bin/chat"]
        #expect(try search(["user": "zoe"], groups: groups).count == 1)
        #expect(try search(["user": "zoe"], state: .locked, groups: groups).isEmpty)
    }

    @Test func `of items with a list the index tells which name a program`() throws {
        let program = Caller.Identity.trustedExecutable("/usr/bin/mail")
        let entry = TrustedApplication(
            "exe:/usr/bin/mail", strength: .rootsFile, listedBy: nil, listedAt: 0)
        let named = try add(["user": "zoe"], trusting: TrustList([entry]))
        let other = try add(["user": "zoe", "server": "x"], trusting: TrustList())
        try add(["user": "zoe"])
        func met(_ scope: SearchScope) throws -> [ItemReference] {
            try search(["user": "zoe"], state: .locked, in: scope, sealed: scope).compactMap {
                if case .sealed(let reference, _) = $0 { reference } else { nil }
            }
        }
        #expect(try met(.trusting(program, besides: [])) == [named])
        #expect(try met(.askable(besides: [])) == [named, other])
    }

    @Test func `before the first unlock a keychain with items is shut, and an empty one is not`()
        throws
    {
        try keychain.add(generic())
        #expect(try search(["user": "zoe"], state: .beforeFirstUnlock).isEmpty)
        try add(["user": "anna"])
        #expect(throws: KeychainStoreError.locked) {
            try search(["user": "zoe"], state: .beforeFirstUnlock)
        }
    }

    // MARK: Order

    @Test func `fewest further pairs come first, then the latest change`() throws {
        let long = try add(["a": "1", "b": "2"])
        let old = try add(["a": "1"])
        let new = try add(["a": "1", "xdg:schema": "s"])
        var change = ItemChange()
        change.attributes = [.label: .string("changed")]
        var meant = query(.attributed)
        meant.references = [old]
        let sorted = { () throws -> [ItemReference?] in
            try keychain.find(query(.attributed)).map(\.order).sorted().map(\.reference)
        }
        #expect(try sorted() == [new, old, long])
        try keychain.update(meant, change)
        #expect(try sorted() == [old, new, long])
    }

    @Test func `what can't be counted comes last, and what has no other pairs where it belongs`()
        throws
    {
        let reference = try add(["a": "1"])
        let opened = try #require(keychain.find(query(.attributed)).first).order
        #expect(opened < AttributedOrder(sealed: reference, pairs: nil))
        #expect(opened < AttributedOrder(sealed: reference, pairs: 1))
        #expect(AttributedOrder(sealed: reference, pairs: 0) < opened)
        #expect(AttributedOrder(sealed: reference, pairs: nil).reference == reference)
    }

    // MARK: The same item

    @Test func `the same item is that of the own groups, the latest of several`() throws {
        let keys = { keychain.keys() }
        let groups = [TestKeychain.group]
        func same(_ pairs: [String: String]) throws -> ItemReference? {
            try keychain.file.findSame(
                as: Self.pairs(pairs), groups: groups, keys: keys())?.reference
        }
        try add(["a": "1"], group: "exe:/usr/bin/chat")
        #expect(try same(["a": "1"]) == nil)
        try add(["a": "1", "b": "2"])
        #expect(try same(["a": "1"]) == nil)
        try add(["a": "1"])
        let last = try add(["a": "1", "xdg:schema": "s"])
        #expect(try same(["a": "1"]) == last)
        #expect(try same(["a": "1", "xdg:schema": "s"]) == last)
        let other = try same(["a": "1", "xdg:schema": "t"])
        #expect(other != nil && other != last)
        let empty = try add([:])
        #expect(try same([:]) == empty)
    }

    @Test func `an item is not added beside one that has become the same meanwhile`() throws {
        try add(["a": "1"])
        var item = NewItem(.attributed)
        item.attributes = Self.pairs(["a": "1"])
        for (groups, isThere) in [([TestKeychain.group], true), (["exe:/usr/bin/chat"], false)] {
            let new = SealedItem.new(item, in: TestKeychain.group, .plain(.whenUnlocked))
            let add = { [keychain] () throws -> SealedItem in
                try keychain.file.add(
                    new, nil, try given(.encrypt, new), keys: keychain.keys(),
                    unlessSameIn: groups)
            }
            if isThere {
                #expect(throws: KeychainStoreError.duplicate) { try add() }
            } else {
                #expect(throws: Never.self) { try add() }
            }
        }
    }

    // MARK: Changing

    @Test func `pairs that are set take the place of all, in the index too`() throws {
        let reference = try add(["a": "1", "b": "2"])
        var change = ItemChange()
        change.attributes = Self.pairs(["b": "3", "c": "4"])
        change.replacesPairs = true
        try keychain.update(query(.attributed, Self.pairs(["a": "1"])), change, "new")
        #expect(try find(["a": "1"]).isEmpty)
        #expect(try find(["b": "2"]).isEmpty)
        #expect(try find(["b": "3", "c": "4"]) == [reference])
        let item = try #require(keychain.find(query(.attributed)).first)
        #expect(try keychain.open(item) == "new")
        #expect(try keychain.file.check(repair: false, keys: keychain.keys()).isClean)
        #expect(throws: KeychainStoreError.badChange) {
            try keychain.add(generic())
            return try keychain.update(query(), change)
        }
    }

    @Test func `no change makes an item larger than it may be`() throws {
        try add(Dictionary(uniqueKeysWithValues: (0..<64).map { ("\($0)", "") }))
        var change = ItemChange()
        change.attributes = Self.pairs(["one more": ""])
        #expect(throws: KeychainStoreError.tooLarge) {
            try keychain.update(query(.attributed), change)
        }
        change.attributes = [.account: .string("zoe")]
        #expect(throws: KeychainStoreError.badChange) {
            try keychain.update(query(.attributed), change)
        }
    }

    @Test func `a group has as many items as it may, and each group has its own count`() throws {
        let counts = GroupCounts(most: 3)
        func room(_ group: String) throws {
            var item = NewItem(.attributed)
            item.attributes = Self.pairs(["a": "1"])
            let new = SealedItem.new(item, in: group, .plain(.whenUnlocked))
            let written = try WrittenItem(
                new.reference, new.record, generation: 1, secret: nil,
                keychain: keychain.file.identifier, keychain.keys())
            try keychain.file.writing { database in
                try counts.checkRoom(for: written, keychain.keys(), database)
                try written.insert(database)
            }
        }
        for _ in 0..<3 { try room(TestKeychain.group) }
        #expect(throws: KeychainStoreError.tooLarge) { try room(TestKeychain.group) }
        try room("exe:/usr/bin/chat")
        // What was deleted makes room.
        try keychain.delete(query(.attributed, limit: 1))
        try room(TestKeychain.group)
    }

    // MARK: Copies and checks

    @Test func `a copy brings them back, with as many programs and pairs as an item may have`()
        throws
    {
        var item = NewItem(.attributed)
        item.attributes = Self.pairs(
            Dictionary(uniqueKeysWithValues: (0..<64).map { ("name \($0)", "value") }))
        let programs = (0..<TrustList.mostApplications).map {
            TrustedApplication("exe:/\($0)", strength: .weak, listedBy: nil, listedAt: 0)
        }
        let new = SealedItem.new(
            item, in: TestKeychain.group, .plain(.whenUnlocked), trusting: TrustList(programs))
        _ = try keychain.file.add(
            new, HeldSecret(secret("s3cret")), given(.encrypt, new), keys: keychain.keys())
        let copy = keychain.folder + "/copy.keychain"
        try KeychainCopy.make(of: keychain.path, at: copy)
        try keychain.delete(query(.attributed))
        _ = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey
        ).replace(keychain.file)
        let found = try keychain.find(query(.attributed, Self.pairs(["name 63": "value"])))
        #expect(try found.map { try keychain.open($0) } == ["s3cret"])
        let findings = try keychain.file.check(repair: true, keys: keychain.keys())
        #expect(findings.isClean && findings.whole == 1)
    }

    @Test func `an index that was damaged is put right`() throws {
        let reference = try add(["a": "1"])
        try keychain.tamper("DELETE FROM token")
        #expect(try find(["a": "1"]).isEmpty)
        let found = try keychain.file.check(repair: true, keys: keychain.keys())
        #expect(found.misindexed == 1)
        #expect(try find(["a": "1"]) == [reference])
    }

    @Test func `a label is kept beside the settings, and by no older key`() throws {
        #expect(try keychain.file.label() == nil)
        try keychain.file.setLabel("Zoë's")
        #expect(try keychain.file.label() == "Zoë's")
        try keychain.file.setLabel("")
        #expect(try keychain.file.label() == nil)
    }
}
