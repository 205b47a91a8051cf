// SPDX-License-Identifier: Apache-2.0
import KeychainMessageSamples
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainMessages

private func sent<V: Verb>(_ verb: V) throws -> V {
    let (message, secrets) = ClientMessage.encode(verb, context: nil, offersTerminal: true)
    guard case .request(let arrived, nil, nil, true) = try ClientMessage(message, secrets: secrets)
    else { throw MessageError.malformed }
    return try #require(arrived as? V)
}

/// What arrives of an answer, by its verb.
private func answered<V: Verb>(
    _ answer: V.Answer, to verb: V.Type, continues: Bool = false
) throws -> V.Answer {
    let (message, secrets) = ServerMessage.answer(answer, to: verb, continues: continues).encoded()
    guard case .answer(let arrived) = try ServerMessage(message, secrets: secrets) else {
        throw MessageError.malformed
    }
    #expect(arrived.continues == continues)
    return try arrived.decoded(to: verb)
}

@Suite struct RoundTripTests {
    @Test(arguments: [Int.min, -1]) func `a limit below nothing is no limit`(_ limit: Int) {
        var query = ItemQuery(.genericPassword)
        query.limit = limit
        #expect(throws: MessageError.malformed) { try sent(CopyMatching(query)) }
    }

    @Test(arguments: [
        nil, DisplayServer(process: 7, user: 0, number: 0),
        DisplayServer(process: 42, user: 1000, number: 99),
    ])
    func `a prompter says whose display it has`(_ server: DisplayServer?) throws {
        for windows in [false, true] {
            let message = ClientMessage.registerPrompter(showsWindows: windows, on: server)
            let arrived = try ClientMessage(message.encoded().message, secrets: nil)
            guard case .registerPrompter(windows, let heard) = arrived else {
                Issue.record("it arrived as something else")
                return
            }
            #expect(heard == server)
        }
    }

    @Test func `a query arrives as it was sent`() throws {
        #expect(try sent(CopyMatching(Samples.query)).query == Samples.query)
    }

    @Test(
        arguments: [
            nil, .reset, .replace([]), .replace([.own, .identity("exe:/usr/bin/git")]),
            .add([.identity("unit:shop.service")]), .remove(["exe:/a", "exe:/b"]),
        ] as [TrustChange?])
    func `a changed list of programs arrives as it was sent`(_ trust: TrustChange?) throws {
        var change = Samples.change
        change.trust = trust
        let arrived = try sent(Update(ItemQuery(.key), change, secret: nil))
        #expect(arrived.change == change && arrived.secret == nil)
    }

    @Test(arguments: [nil, [], [.own, .identity("exe:/usr/bin/git")]] as [[NamedProgram]?])
    func `a new item arrives with its list of programs, or without one`(
        _ trusted: [NamedProgram]?
    ) throws {
        var item = NewItem(.genericPassword)
        item.trusted = trusted
        #expect(try sent(Add(item, secret: nil, returning: [])).item == item)
    }

    @Test func `longer lists of programs, and longer names, are no message`() throws {
        for identities in [
            [String](repeating: "exe:/a", count: TrustList.mostApplications + 1),
            [String(repeating: "x", count: TrustedApplication.longestIdentity + 1)],
        ] {
            var item = NewItem(.genericPassword)
            item.trusted = identities.map { .identity($0) }
            #expect(throws: MessageError.malformed) {
                try sent(Add(item, secret: nil, returning: []))
            }
        }
    }

    @Test func `what is asked about a whole keychain arrives as it was sent`() throws {
        for name in ["work", nil] {
            let check = try sent(CheckKeychain(keychain: name, repair: true))
            #expect(check.keychain == name && check.repair)
            let read = try sent(
                ReadBackup(keychain: name, transfer: Samples.identifier, offset: .max))
            #expect(read.transfer == Samples.identifier && read.offset == .max)
            let piece = try sent(
                SendRestore(keychain: name, transfer: Samples.identifier, piece: []))
            #expect(piece.keychain == name && piece.piece == [])
            let end = try sent(
                FinishRestore(
                    keychain: name, transfer: Samples.identifier, digest: Samples.digest))
            #expect(end.digest == Samples.digest)
            #expect(try sent(RestoreGeneration(keychain: name, generation: 7)).generation == 7)
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
        #expect(try sent(Preferences(change)).change == change)
    }

    private func item(in keychain: String?, _ secret: HeldSecret?) -> Item {
        let sample = Samples.item
        return Item(
            reference: sample.reference, attributes: sample.attributes,
            accessControl: sample.accessControl, trusted: sample.trusted, keychain: keychain,
            secret: secret)
    }

    @Test func `where items lie, and what is searched, comes back as it was`() throws {
        let preferences = KeychainPreferences(defaultKeychain: nil, searchList: [.system])
        #expect(try answered(preferences, to: Preferences.self) == preferences)
        let items = [item(in: nil, secret("s3cret")), Samples.item]
        #expect(try answered(items, to: CopyMatching.self) == items)
    }

    @Test func `how the service stands comes back as it was`() throws {
        #expect(try answered(Samples.status, to: Status.self) == Samples.status)
        #expect(try answered([Samples.protector], to: ListProtectors.self) == [Samples.protector])
        #expect(try answered("lines", to: Policies.self) == "lines")
        let change = try sent(ChangeSettings(keychain: nil, Samples.settings)).change
        #expect(change == Samples.settings)
    }

    @Test func `a piece, an identifier or a digest of another length is refused`() {
        let (identifier, digest) = (Samples.identifier, Samples.digest)
        let long = [UInt8](repeating: 0, count: BackupPiece.mostBytes + 1)
        let verbs: [any Verb] = [
            SendRestore(keychain: nil, transfer: identifier, piece: long),
            ReadBackup(keychain: nil, transfer: [], offset: 0),
            ReadBackup(keychain: nil, transfer: identifier + [1], offset: 0),
            FinishRestore(keychain: nil, transfer: identifier, digest: []),
            FinishRestore(keychain: nil, transfer: identifier, digest: digest + [1]),
        ]
        for verb in verbs { #expect(throws: MessageError.malformed) { _ = try sent(verb) } }
    }

    @Test func `what was found in a keychain arrives as it was sent`() throws {
        #expect(try answered(Samples.findings, to: CheckKeychain.self) == Samples.findings)
        let generations = [Generation(number: 9, made: 1.5, bytes: 10)]
        #expect(try answered(generations, to: ListGenerations.self) == generations)
        let transfer = BackupTransfer(identifier: Samples.identifier, bytes: .max)
        #expect(try answered(transfer, to: BeginBackup.self) == transfer)
        #expect(try answered(BackupPiece([8]), to: ReadBackup.self) == BackupPiece([8]))
        #expect(try answered(Samples.restored, to: FinishRestore.self) == Samples.restored)
    }

    @Test func `1,024 attributes arrive, and one more is no message`() throws {
        var query = ItemQuery(.attributed)
        for number in 0..<1024 { query.attributes[.pair("\(number)")] = .string("value") }
        #expect(try sent(CopyMatching(query)).query == query)
        query.attributes[.label] = .string("one more")
        #expect(throws: MessageError.malformed) { try sent(CopyMatching(query)) }
    }

    @Test func `an empty list of references is not the absence of one`() throws {
        var query = ItemQuery(.genericPassword)
        query.references = []
        #expect(try sent(Delete(query)).query.references == [])
    }

    @Test func `a new item arrives with its rights, and its secret beside it`() throws {
        let verb = Add(Samples.newItem, secret: secret("s3cret"), returning: .attributes)
        let arrived = try sent(verb)
        #expect(arrived.item == Samples.newItem && arrived.parts == .attributes)
        #expect(text(arrived.secret) == "s3cret")
        let message = ClientMessage.encode(verb, context: nil, offersTerminal: false).message
        #expect(!String(decoding: message, as: UTF8.self).contains("s3cret"))
    }

    @Test func `no secret and an empty one are two things`() throws {
        for given in [nil, secret("")] {
            let arrived = try sent(
                Update(ItemQuery(.genericPassword), ItemChange(), secret: given))
            #expect(text(arrived.secret) == text(given))
        }
    }

    @Test func `both passwords of a change keep their places`() throws {
        let arrived = try sent(
            SetPassword(keychain: nil, old: secret("old"), new: secret("new")))
        #expect(text(arrived.old) == "old" && text(arrived.new) == "new")
    }

    @Test func `what opens a keychain arrives as it was sent`() throws {
        let word = secret("password")
        let added = try sent(
            AddProtector(
                keychain: nil, .tpm(registers: [7, 11, 7], atLogin: true), opening: .password(word))
        )
        guard case .tpm([7, 11], true) = added.new, case .password(let typed) = added.opener else {
            Issue.record("another protector arrived")
            return
        }
        #expect(text(typed) == "password")
        #expect(throws: MessageError.malformed) {
            try sent(
                AddProtector(
                    keychain: nil, .tpm(registers: [24], atLogin: true), opening: .unasked))
        }
        let opened = try sent(
            UnlockWithProtector(keychain: "work", .recoveryKey(word), newPassword: secret("new")))
        #expect(text(opened.opener.secret) == "password" && text(opened.newPassword) == "new")
    }

    @Test func `a request arrives in its context, with the context's secret and its own`() throws {
        let context = Samples.context
        let (message, secrets) = ClientMessage.encode(
            SetPassword(keychain: nil, old: secret("old"), new: secret("new")), context: context,
            offersTerminal: false)
        guard
            case .request(let verb, let arrived?, nil, false) =
                try ClientMessage(message, secrets: secrets), let verb = verb as? SetPassword
        else {
            Issue.record("something else arrived")
            return
        }
        #expect(arrived.identifier == context.identifier)
        #expect(!arrived.mayInteract && arrived.reason == "to pay")
        #expect(text(arrived.applicationPassword) == "application")
        #expect(text(verb.old) == "old" && text(verb.new) == "new")
    }

    @Test func `a context's name has its length`() throws {
        #expect(AuthenticationContext(identifier: []) == nil)
        #expect(AuthenticationContext(identifier: [UInt8](repeating: 1, count: 17)) == nil)
        #expect(AuthenticationContext().identifier != AuthenticationContext().identifier)
    }

    @Test func `what can be proven arrives as it is`() throws {
        let arrived = try answered(Samples.capabilities, to: ReadCapabilities.self)
        #expect(arrived == Samples.capabilities)
    }

    @Test func `an answer arrives with each secret at its item`() throws {
        let items = ["one", nil, "", "four"].map { item(in: "work", $0.map(secret)) }
        let arrived = try answered(items, to: CopyMatching.self, continues: true)
        #expect(arrived.map { text($0.secret) } == ["one", nil, "", "four"])
        #expect(arrived == items)
    }

    @Test func `what the daemon says besides arrives as it was said`() throws {
        for message in Samples.serverMessages.dropFirst(Samples.answers.count) {
            let (bytes, secrets) = message.encoded()
            #expect(try "\(ServerMessage(bytes, secrets: secrets))" == "\(message)")
        }
    }

    @Test func `constraints that nest too deep, or have too many members, are refused`() {
        var deep = Constraint.userPresence
        for _ in 0..<Constraint.largestDepth { deep = .atLeast(required: 1, of: [deep]) }
        let wide = Constraint.atLeast(
            required: 1, of: [Constraint](repeating: .always, count: Constraint.mostMembers + 1))
        for constraint in [deep, wide] {
            #expect(throws: MessageError.malformed) { try sent(Authenticate(constraint)) }
        }
    }
}
