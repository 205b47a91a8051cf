// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainMessages

private func secret(_ text: String) -> HeldSecret {
    HeldSecret(SecretBytes(copying: Array(text.utf8)))
}

private func text(_ secret: HeldSecret?) -> String? {
    secret.map { String(decoding: $0.bytes.releasedFromLockedMemory(), as: UTF8.self) }
}

private func sent(_ request: Request) throws -> Request {
    let (message, secrets) = ClientWords.request(request, context: nil, offersTerminal: true)
        .encoded()
    guard case .request(let arrived, nil, true) = try ClientWords(message, secrets: secrets) else {
        Issue.record("it did not arrive as a request")
        return request
    }
    return arrived
}

private func fullQuery() throws -> ItemQuery {
    var query = ItemQuery(.internetPassword)
    query.keychain = "work"
    query.attributes = [
        .account: .string("me"), .server: .data([0, 255]), .port: .number(-1),
        .creationDate: .date(1.5),
    ]
    query.accessible = .alwaysThisDeviceOnly
    query.accessGroup = "exe:/usr/bin/git"
    query.synchronizable = .any
    query.references = [
        try #require(ItemReference(itemClass: .internetPassword, identifier: Array(0..<16)))
    ]
    query.hostOrSubdomain = "example.org"
    query.folding = [.caseInsensitive, .diacriticInsensitive]
    query.limit = nil
    query.parts = [.data, .attributes]
    query.authenticationUI = .skip
    query.reason = "to pay"
    return query
}

@Suite struct WordsTests {
    @Test(arguments: [Int.min, -1]) func `a limit below nothing is no limit`(_ limit: Int) {
        var query = ItemQuery(.genericPassword)
        query.limit = limit
        let (message, _) = ClientWords.request(
            .copyMatching(query), context: nil, offersTerminal: false
        ).encoded()
        #expect(throws: MessageError.malformed) { try ClientWords(message, secrets: nil) }
    }

    @Test(arguments: [
        nil, DisplayServer(process: 7, user: 0, number: 0),
        DisplayServer(process: 42, user: 1000, number: 99),
    ])
    func `a prompter says whose display it has`(_ server: DisplayServer?) throws {
        for windows in [false, true] {
            let words = ClientWords.registerPrompter(showsWindows: windows, on: server)
            let arrived = try ClientWords(words.encoded().message, secrets: nil)
            guard case .registerPrompter(windows, let heard) = arrived else {
                Issue.record("it arrived as something else")
                return
            }
            #expect(heard == server)
        }
    }

    @Test func `a query arrives as it was sent`() throws {
        let query = try fullQuery()
        guard case .copyMatching(let arrived) = try sent(.copyMatching(query)) else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived == query)
    }

    @Test(
        arguments: [
            nil, .reset, .replace([]), .replace([.own, .identity("exe:/usr/bin/git")]),
            .add([.identity("unit:shop.service")]), .remove(["exe:/a", "exe:/b"]),
        ] as [TrustChange?])
    func `a changed list of programs arrives as it was sent`(_ trust: TrustChange?) throws {
        var change = ItemChange()
        change.trust = trust
        let sent = try sent(.update(ItemQuery(.key), change, secret: nil))
        guard case .update(_, let arrived, nil) = sent else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived == change)
    }

    @Test(arguments: [nil, [], [.own, .identity("exe:/usr/bin/git")]] as [[NamedProgram]?])
    func `a new item arrives with its list of programs, or without one`(
        _ trusted: [NamedProgram]?
    ) throws {
        var item = NewItem(.genericPassword)
        item.trusted = trusted
        guard case .add(let arrived, nil, []) = try sent(.add(item, secret: nil, returning: []))
        else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived == item)
    }

    @Test func `longer lists of programs, and longer names, are no words`() throws {
        for identities in [
            [String](repeating: "exe:/a", count: TrustList.mostApplications + 1),
            [String(repeating: "x", count: TrustedApplication.longestIdentity + 1)],
        ] {
            var item = NewItem(.genericPassword)
            item.trusted = identities.map { .identity($0) }
            let (message, _) = ClientWords.request(
                .add(item, secret: nil, returning: []), context: nil, offersTerminal: false
            ).encoded()
            #expect(throws: MessageError.malformed) { try ClientWords(message, secrets: nil) }
        }
    }

    @Test func `what is asked about a whole keychain arrives as it was sent`() throws {
        let identifier = [UInt8](repeating: 3, count: BackupTransfer.identifierBytes)
        let digest = [UInt8](repeating: 4, count: BackupDigest.byteCount)
        let steps: [Safekeeping] = [
            .check(repair: false), .check(repair: true), .generations, .beginBackup,
            .readBackup(identifier, offset: .max), .beginRestore,
            .sendRestore(identifier, bytes: [1, 2]), .sendRestore(identifier, bytes: []),
            .finishRestore(identifier, digest: digest), .restoreGeneration(7),
        ]
        for step in steps {
            for name in ["work", nil] {
                guard
                    case .safekeeping(let keychain, let arrived) = try sent(
                        .safekeeping(keychain: name, step))
                else {
                    Issue.record("another request arrived")
                    continue
                }
                #expect(arrived == step)
                #expect(keychain == name)
            }
        }
    }

    @Test(
        arguments: [
            nil, .defaultKeychain("work"), .defaultKeychain(nil), .searchList([]),
            .searchList(["login", "work"]),
        ] as [KeychainPreferencesChange?])
    func `what is said of keychains that calls don't name arrives as it was said`(
        _ change: KeychainPreferencesChange?
    ) throws {
        guard case .preferences(let arrived) = try sent(.preferences(change)) else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived == change)
    }

    @Test func `where items lie, and what is searched, comes back as it was`() throws {
        var answer = Answer()
        answer.preferences = KeychainPreferences(defaultKeychain: nil, searchList: [.system])
        for keychain in [nil, "work"] {
            let reference = try #require(
                ItemReference(itemClass: .key, identifier: [UInt8](repeating: 1, count: 16)))
            var item = FoundItem(
                reference: reference, attributes: [:], accessControl: .plain(.always))
            item.keychain = keychain
            answer.items.append(AnsweredItem(item: item, secret: nil))
        }
        let (message, secrets) = DaemonWords.answer(answer, continues: false).encoded()
        guard case .answer(let arrived, false) = try DaemonWords(message, secrets: secrets) else {
            Issue.record("other words arrived")
            return
        }
        #expect(arrived.preferences == answer.preferences)
        #expect(arrived.items.map(\.item.keychain) == [nil, "work"])
    }

    @Test func `a piece, an identifier or a digest of another length is refused`() {
        let identifier = [UInt8](repeating: 3, count: BackupTransfer.identifierBytes)
        let digest = [UInt8](repeating: 4, count: BackupDigest.byteCount)
        let long = [UInt8](repeating: 0, count: Safekeeping.pieceBytes + 1)
        for step: Safekeeping in [
            .sendRestore(identifier, bytes: long), .readBackup([], offset: 0),
            .readBackup(identifier + [1], offset: 0), .finishRestore(identifier, digest: []),
            .finishRestore(identifier, digest: digest + [1]),
        ] {
            #expect(throws: MessageError.malformed) {
                try sent(.safekeeping(keychain: nil, step))
            }
        }
    }

    @Test func `what was found in a keychain arrives as it was sent`() throws {
        var kept = Safekept()
        var findings = KeychainFindings()
        (findings.isStructureWhole, findings.whole, findings.sealed) = (false, 1, 2)
        (findings.damaged, findings.misindexed, findings.strayEntries) = (3, 4, 5)
        (findings.quarantined, findings.leftovers) = (6, 7)
        kept.findings = findings
        kept.generations = [.init(number: 9, made: 1.5, bytes: 10)]
        kept.transfer = BackupTransfer(identifier: [1], bytes: .max)
        (kept.piece, kept.replaced, kept.setAside) = ([8], 11, 12)
        var answer = Answer()
        answer.safekept = kept
        let (message, secrets) = DaemonWords.answer(answer, continues: false).encoded()
        guard case .answer(let arrived, false) = try DaemonWords(message, secrets: secrets) else {
            Issue.record("it did not arrive as an answer")
            return
        }
        #expect(arrived.safekept == kept)
    }

    @Test func `an empty list of references is not the absence of one`() throws {
        var query = ItemQuery(.genericPassword)
        query.references = []
        guard case .delete(let arrived) = try sent(.delete(query)) else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived.references == [])
    }

    @Test func `a new item arrives with its rights, and its secret beside it`() throws {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string("mail")]
        item.isSynchronizable = true
        item.accessControl = ItemAccessControl(
            protection: .afterFirstUnlock,
            operations: [
                .decrypt: .atLeast(required: 1, of: [.userPresence, .biometryCurrentSet])
            ],
            defaultOperation: .never, needsApplicationPassword: true)
        let request = Request.add(item, secret: secret("s3cret"), returning: .attributes)
        guard case .add(let arrived, let beside, .attributes) = try sent(request) else {
            Issue.record("another request arrived")
            return
        }
        #expect(arrived == item)
        #expect(text(beside) == "s3cret")
        let message = ClientWords.request(request, context: nil, offersTerminal: false).encoded()
            .message
        #expect(!String(decoding: message, as: UTF8.self).contains("s3cret"))
    }

    @Test func `no secret and an empty one are two things`() throws {
        for given in [nil, secret("")] {
            let request = Request.update(
                ItemQuery(.genericPassword), ItemChange(), secret: given)
            guard case .update(_, _, let arrived) = try sent(request) else {
                Issue.record("another request arrived")
                return
            }
            #expect(text(arrived) == text(given))
        }
    }

    @Test func `both passwords of a change keep their places`() throws {
        let request = Request.setPassword(keychain: nil, old: secret("old"), new: secret("new"))
        guard case .setPassword(nil, let old, let new) = try sent(request) else {
            Issue.record("another request arrived")
            return
        }
        #expect(text(old) == "old" && text(new) == "new")
    }

    @Test func `a request arrives in its context, with the context's secret and its own`() throws {
        var context = AuthenticationContext()
        context.mayInteract = false
        context.reason = "to pay"
        context.applicationPassword = secret("application")
        let request = Request.setPassword(keychain: nil, old: secret("old"), new: secret("new"))
        let (message, secrets) = ClientWords.request(
            request, context: context, offersTerminal: false
        ).encoded()
        guard
            case .request(.setPassword(nil, let old, let new), let arrived?, false) =
                try ClientWords(message, secrets: secrets)
        else {
            Issue.record("something else arrived")
            return
        }
        #expect(arrived.identifier == context.identifier)
        #expect(!arrived.mayInteract && arrived.reason == "to pay")
        #expect(text(arrived.applicationPassword) == "application")
        #expect(text(old) == "old" && text(new) == "new")
    }

    @Test func `a context's name has its length`() throws {
        #expect(AuthenticationContext(identifier: []) == nil)
        #expect(AuthenticationContext(identifier: [UInt8](repeating: 1, count: 17)) == nil)
        #expect(AuthenticationContext().identifier != AuthenticationContext().identifier)
    }

    @Test func `what can be proven arrives as it is`() throws {
        var answer = Answer()
        var known = Capabilities()
        known.biometry = .notEnrolled
        known.companion = true
        known.biometryState = [1, 2]
        answer.capabilities = known
        let (message, _) = DaemonWords.answer(answer, continues: false).encoded()
        guard case .answer(let arrived, false) = try DaemonWords(message, secrets: nil) else {
            Issue.record("something else arrived")
            return
        }
        #expect(arrived.capabilities == known)
    }

    @Test func `an answer arrives with each secret at its item`() throws {
        let reference = try #require(
            ItemReference(itemClass: .genericPassword, identifier: Array(0..<16)))
        var answer = Answer()
        let list = TrustList([
            TrustedApplication("exe:/a", strength: .weak, listedBy: nil, listedAt: 1),
            TrustedApplication(
                "unit:b.service", strength: .guarded, listedBy: "exe:/a", listedAt: 2),
        ])
        for content in ["one", nil, ""] {
            answer.items.append(
                AnsweredItem(
                    item: FoundItem(
                        reference: reference, attributes: [.label: .string("x")],
                        accessControl: .plain(.always),
                        trusted: content == nil ? nil : list), secret: content.map(secret)))
        }
        let (message, secrets) = DaemonWords.answer(answer, continues: true).encoded()
        guard case .answer(let arrived, true) = try DaemonWords(message, secrets: secrets) else {
            Issue.record("something else arrived")
            return
        }
        #expect(arrived.items.map { text($0.secret) } == ["one", nil, ""])
        #expect(arrived.items.map(\.item) == answer.items.map(\.item))
    }

    @Test func `lengths that are not those of the secrets are refused`() throws {
        let (message, _) = ClientWords.request(
            .unlock(keychain: nil, password: secret("password")), context: nil,
            offersTerminal: false
        ).encoded()
        for wrong in [nil, secret("passwor"), secret("passwords")] {
            #expect(throws: MessageError.self) { try ClientWords(message, secrets: wrong) }
        }
    }

    @Test func `secrets that nothing asks for are refused`() {
        let (message, _) = ClientWords.request(.status, context: nil, offersTerminal: false)
            .encoded()
        #expect(throws: MessageError.self) { try ClientWords(message, secrets: secret("x")) }
    }

    @Test func `a program can't make the daemon hold many secrets at once`() {
        // status, and secret_lengths: packed, a hundred thousand zeros.
        let lengths: [UInt8] = [0x12, 0xA0, 0x8D, 0x06] + [UInt8](repeating: 0, count: 100_000)
        #expect(throws: MessageError.malformed) {
            try ClientWords(lengths + [0x72, 0x00], secrets: nil)
        }
    }

    @Test func `bytes of any kind are words or an error, never a trap`() throws {
        let (good, _) = ClientWords.request(
            .copyMatching(try fullQuery()), context: nil, offersTerminal: true
        ).encoded()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                    UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? ClientWords(Array(bytes.prefix(Int.random(in: 0...bytes.count))), secrets: nil)
            _ = try? DaemonWords(bytes, secrets: nil)
        }
        #expect(throws: MessageError.self) { try ClientWords([], secrets: nil) }
    }

    @Test func `constraints that nest too deep are refused`() {
        var constraint = Constraint.userPresence
        for _ in 0..<Constraint.largestDepth {
            constraint = .atLeast(required: 1, of: [constraint])
        }
        let wire = constraint.wire
        #expect(throws: MessageError.self) { try Constraint(wire) }
    }
}
