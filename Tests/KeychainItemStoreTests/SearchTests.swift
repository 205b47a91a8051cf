// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

@Suite struct SearchTests {
    private func accounts(_ items: [SealedItem]) -> [String] { items.map(\.account) }

    @Test func `an added item comes back with everything it was given`() throws {
        let keychain = try TestKeychain()
        var item = generic("mail", "zoe", label: "Mail")
        item.attributes[.generic] = .data([0, 255, 7])
        item.attributes[.creator] = .number(-3)
        item.attributes[.comment] = .string("e\u{301}")
        item.isSynchronizable = true
        item.accessible = .afterFirstUnlock
        let added = try keychain.add(item, "s3cret")
        var search = query(.genericPassword, [.account: .string("zoe")])
        search.synchronizable = .any
        let found = try #require(try keychain.find(search).first)
        #expect(found.found == added)
        #expect(found.attributes[.generic] == .data([0, 255, 7]))
        #expect(found.attributes[.creator] == .number(-3))
        #expect(found.attributes[.comment] == .string("e\u{301}"))
        #expect(found.attributes[.synchronizable] == .number(1))
        #expect(found.attributes[.accessGroup] == .string(TestKeychain.group))
        #expect(found.attributes[.creationDate] == found.attributes[.modificationDate])
        #expect(found.accessControl == .plain(.afterFirstUnlock))
        #expect(found.hasSecret)
        #expect(try keychain.open(found) == "s3cret")
    }

    @Test(arguments: [0, 1, 27, 28, 29, 4096, 100_000, 1_000_000])
    func `a secret of any length comes back whole`(_ length: Int) throws {
        let keychain = try TestKeychain()
        let text = String((0..<length).map { Character(UnicodeScalar(UInt8(33 + $0 % 90))) })
        try keychain.add(generic(), text)
        #expect(try keychain.open(try #require(try keychain.find(query()).first)) == text)
    }

    @Test func `no secret and an empty secret are different`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "none"), nil)
        try keychain.add(generic("mail", "empty"), "")
        let found = try keychain.find(query())
        #expect(found.map(\.hasSecret) == [false, true])
        #expect(try keychain.open(found[0]) == nil)
        #expect(try keychain.open(found[1]) == "")
    }

    @Test func `values must all be equal, byte by byte`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe", label: "Mail"))
        func count(_ attributes: Attributes) throws -> Int {
            try keychain.find(query(.genericPassword, attributes)).count
        }
        #expect(try count([:]) == 1)
        #expect(try count([.service: .string("mail"), .account: .string("zoe")]) == 1)
        #expect(try count([.service: .data(Array("mail".utf8))]) == 1)
        #expect(try count([.label: .string("Mail")]) == 1)
        #expect(try count([.label: .string("mail")]) == 0)
        #expect(try count([.service: .string("mai")]) == 0)
        #expect(try count([.service: .string("mail"), .account: .string("zo")]) == 0)
        #expect(try count([.service: .string("mail"), .label: .string("Post")]) == 0)
        #expect(try count([.account: .string("zoe"), .comment: .string("")]) == 0)
        #expect(try count([.server: .string("mail")]) == 0)
    }

    @Test func `texts in two normalisations are two texts`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("caf\u{e9}", "one"))
        try keychain.add(generic("cafe\u{301}", "two"))
        let one = try keychain.find(query(.genericPassword, [.service: .string("caf\u{e9}")]))
        #expect(accounts(one) == ["one"])
    }

    @Test func `values that only bytes compare match across types, others do not`() throws {
        let keychain = try TestKeychain()
        var item = generic("mail", "42")
        item.attributes[.creator] = .number(7)
        try keychain.add(item)
        func count(_ attributes: Attributes) throws -> Int {
            try keychain.find(query(.genericPassword, attributes)).count
        }
        #expect(try count([.account: .number(42)]) == 1)
        #expect(try count([.creator: .number(7)]) == 1)
        #expect(try count([.creator: .string("7")]) == 0)
    }

    @Test func `absent attributes count as their defaults`() throws {
        let keychain = try TestKeychain()
        try keychain.add(NewItem(.genericPassword))
        let attributes: Attributes = [.service: .string(""), .account: .string("")]
        #expect(try keychain.find(query(.genericPassword, attributes)).count == 1)
        #expect(try keychain.find(query(.genericPassword, [.account: .string("")])).count == 1)
        try keychain.add(NewItem(.internetPassword))
        #expect(try keychain.find(query(.internetPassword, [.port: .number(0)])).count == 1)
    }

    @Test func `classes are apart`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        try keychain.add(internet("example.org", "zoe"))
        #expect(try keychain.find(query()).count == 1)
        #expect(try keychain.find(query(.internetPassword)).count == 1)
    }

    @Test func `another group's items do not exist`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "mine"))
        try keychain.add(generic("mail", "theirs"), group: "exe:/usr/bin/other")
        try keychain.add(generic("mail", "shared"), group: "team")
        let search = query(.genericPassword, [.service: .string("mail")])
        #expect(accounts(try keychain.find(search)) == ["mine"])
        #expect(
            accounts(try keychain.find(search, groups: ["team", TestKeychain.group, "team"]))
                == ["mine", "shared"])
        #expect(try keychain.find(search, groups: []).isEmpty)
        #expect(try keychain.find(search, groups: ["TEAM"]).isEmpty)
    }

    @Test func `synchronizable items are found when asked for`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "local"))
        var synced = generic("mail", "synced")
        synced.isSynchronizable = true
        try keychain.add(synced)
        var search = query(.genericPassword, [.service: .string("mail")])
        #expect(accounts(try keychain.find(search)) == ["local"])
        search.synchronizable = .yes
        #expect(accounts(try keychain.find(search)) == ["synced"])
        search.synchronizable = .any
        #expect(accounts(try keychain.find(search)) == ["local", "synced"])
    }

    @Test func `accessibility narrows a search`() throws {
        let keychain = try TestKeychain()
        for accessible in Accessibility.allCases {
            try keychain.add(generic("mail", accessible.code, accessible: accessible))
        }
        for accessible in Accessibility.allCases {
            var search = query()
            search.accessible = accessible
            #expect(accounts(try keychain.find(search)) == [accessible.code])
        }
        #expect(
            accounts(try keychain.find(query())) == Accessibility.allCases.map(\.code))
    }

    @Test func `a limit counts what was found, in the order of adding`() throws {
        let keychain = try TestKeychain()
        for number in 0..<10 {
            try keychain.add(generic("mail", "\(number)", label: number % 2 == 1 ? "Odd" : nil))
        }
        var search = query(.genericPassword, [.service: .string("mail")])
        search.limit = 3
        #expect(accounts(try keychain.find(search)) == ["0", "1", "2"])
        search.attributes = [.label: .string("odd")]
        search.folding = .caseInsensitive
        #expect(accounts(try keychain.find(search)) == ["1", "3", "5"])
        search.limit = 0
        #expect(try keychain.find(search).isEmpty)
        search.limit = nil
        #expect(try keychain.find(search).count == 5)
    }

    @Test func `folding is done when asked for, and for texts only`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("Müller", "one"))
        try keychain.add(generic("muller", "two"))
        var data = generic("x", "three")
        data.attributes[.service] = .data(Array("MULLER".utf8))
        try keychain.add(data)
        func found(_ folding: ItemQuery.Folding) throws -> [String] {
            var search = query(.genericPassword, [.service: .string("MULLER")])
            search.folding = folding
            return accounts(try keychain.find(search))
        }
        #expect(try found([]) == ["three"])
        #expect(try found(.caseInsensitive) == ["two", "three"])
        #expect(try found([.caseInsensitive, .diacriticInsensitive]) == ["one", "two", "three"])
    }

    @Test func `a host finds itself and what lies below it`() throws {
        let keychain = try TestKeychain()
        for server in ["example.org", "www.example.org", "badexample.org", "org", "Example.org"] {
            try keychain.add(internet(server, server))
        }
        var item = internet("x", "data")
        item.attributes[.server] = .data(Array("example.org".utf8))
        try keychain.add(item)
        var search = query(.internetPassword)
        search.hostOrSubdomain = "example.org"
        #expect(accounts(try keychain.find(search)) == ["example.org", "www.example.org"])
    }

    @Test func `references find their items within the caller's groups`() throws {
        let keychain = try TestKeychain()
        let first = try keychain.add(generic("mail", "first")).reference
        let second = try keychain.add(generic("mail", "second")).reference
        let theirs = try keychain.add(generic(), group: "other").reference
        let other = try keychain.add(internet("example.org", "x")).reference
        var search = query()
        search.references = [second, theirs, first, other, second]
        #expect(accounts(try keychain.find(search)) == ["first", "second"])
        search.attributes = [.account: .string("second")]
        #expect(accounts(try keychain.find(search)) == ["second"])
        search.references = []
        #expect(try keychain.find(search).isEmpty)
    }

    @Test func `a long answer comes piece by piece, whole and in order`() throws {
        let keychain = try TestKeychain()
        for number in 0..<600 { try keychain.add(generic("mail", "\(number)")) }
        var seen: [String] = []
        try keychain.file.forEach(
            query(), groups: [TestKeychain.group], keys: keychain.keys()
        ) { item in
            seen.append(item.account)
            return true
        }
        #expect(seen == (0..<600).map(String.init))
        for (limit, stop, expected) in [(400, 1000, 400), (nil, 300, 300), (5, 1000, 5)] {
            var count = 0
            try keychain.file.forEach(
                query(limit: limit), groups: [TestKeychain.group], keys: keychain.keys()
            ) { _ in
                count += 1
                return count < stop
            }
            #expect(count == expected)
        }
    }

    @Test func `dates are attributes like others`() throws {
        let keychain = try TestKeychain()
        let added = try keychain.add(generic())
        let created = try #require(added.attributes[.creationDate])
        #expect(try keychain.find(query(.genericPassword, [.creationDate: created])).count == 1)
        #expect(
            try keychain.find(query(.genericPassword, [.creationDate: .date(1)])).isEmpty)
    }

    @Test func `an answer's attributes find the item again`() throws {
        let keychain = try TestKeychain()
        try keychain.add(internet("example.org", "zoe", port: 443))
        try keychain.add(internet("example.org", "zoe", port: 80))
        let found = try keychain.find(query(.internetPassword))[0]
        #expect(
            try keychain.find(query(.internetPassword, found.attributes)).map(\.reference)
                == [found.reference])
    }
}
