// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainMessageSamples
import KeychainMessages
import KeychainModel
import KeychainSecrets
import KeychainUserPresence
import Testing

@testable import KeychainRequestService
@testable import KeychainVaults

/// What a program that a deputy brings may ask for.
@Suite struct RelayedVerbsTests {
    private func refusal(_ verb: any Verb) -> RequestError? {
        do throws(RequestError) {
            try RelayedVerbs.check(verb)
            return nil
        } catch { return error }
    }

    private func query(_ itemClass: ItemClass, keychain: String? = nil) -> ItemQuery {
        var query = ItemQuery(itemClass)
        query.keychain = keychain
        return query
    }

    @Test func `of the verbs as programs use them, it has no more than these`() {
        let admitted = Samples.verbs.filter { refusal($0) == nil }.map { type(of: $0).number }
        // Status, lock, capabilities, the search of its class, the end of proofs for its items, the
        // deletion of a keychain, which its user is asked about, and whether that user would be.
        #expect(admitted == [5, 8, 12, 31, 33, 35, 36])
    }

    @Test func `it has items of its own class alone`() {
        for itemClass in ItemClass.allCases {
            let verbs: [any Verb] = [
                Add(NewItem(itemClass), secret: nil, returning: []),
                CopyMatching(query(itemClass)),
                Update(query(itemClass), ItemChange(), secret: nil), Delete(query(itemClass)),
            ]
            for verb in verbs {
                #expect(
                    refusal(verb) == (itemClass == .attributed ? nil : .refused(.notEntitled)),
                    "\(verb)")
            }
        }
        var foreign = query(.attributed)
        foreign.references = [Samples.reference]
        #expect(refusal(CopyMatching(foreign)) == .refused(.notEntitled))
        #expect(refusal(WouldAsk(.items([Samples.reference]))) == .refused(.notEntitled))
    }

    @Test func `the machine's keychain is not there for it`() {
        var item = NewItem(.attributed)
        item.keychain = "system"
        let verbs: [any Verb] = [
            Add(item, secret: nil, returning: []),
            CopyMatching(query(.attributed, keychain: "system")),
            FindAttributed(keychain: "system", pairs: [:]), Lock(keychain: "system"),
            DeleteKeychain(keychain: "system"),
            Unlock(keychain: "system", password: nil),
            CreateKeychain(name: "system", password: nil, asks: true),
            Preferences(.defaultKeychain("system")), WouldAsk(.unlocking(keychain: "system")),
            WouldAsk(.deleting(keychain: "system")),
        ]
        for verb in verbs { #expect(refusal(verb) == .state(.noSuchKeychain), "\(verb)") }
    }

    @Test func `no password comes through a deputy`() {
        let word = secret("password")
        #expect(refusal(Unlock(keychain: nil, password: word)) == .refused(.notEntitled))
        #expect(refusal(Unlock(keychain: nil, password: nil)) == nil)
        #expect(refusal(CreateKeychain(name: "a", password: word)) == .refused(.notEntitled))
        #expect(refusal(CreateKeychain(name: "a", password: nil)) == .refused(.notEntitled))
        #expect(refusal(CreateKeychain(name: "a", password: nil, asks: true)) == nil)
    }

    @Test func `it changes neither when keychains lock nor where programs search`() {
        #expect(
            refusal(ChangeSettings(keychain: nil, Samples.settings)) == .refused(.notEntitled))
        #expect(refusal(Preferences(.searchList([]))) == .refused(.notEntitled))
        #expect(refusal(Preferences(nil)) == nil)
    }
}

@Suite struct RelayedRequestTests {
    private let world: ServiceInMemory
    private var browser = Program("/usr/bin/browser", process: 30).relayed

    init() throws { world = try ServiceInMemory() }

    private func refusal(_ verb: some Verb, _ program: Program) -> RequestError? {
        do throws(RequestError) {
            _ = try world.ask(verb, program)
            return nil
        } catch { return error }
    }

    @Test func `what the table refuses no verb does, and the audit tells of it`() throws {
        try world.add("mail", as: Program("/usr/bin/browser", process: 31))
        let query = CopyMatching(ServiceInMemory.query("mail"))
        #expect(refusal(query, browser) == .refused(.notEntitled))
        #expect(try world.recorded().last == "copyMatching notEntitled")
    }

    @Test func `a question names the program and how it came`() {
        let question = Question(.unlockKeychain, names: ["login"], itemCount: 0, reason: nil)
        #expect(
            question.text(for: browser.caller)
                == "/usr/bin/browser, through the Secret Service, wants to unlock your keychain"
                + " “login”.")
    }

    @Test func `a keychain is opened by its password, typed to a question`() throws {
        let keychain = try world.keychain
        try world.vault.lock(keychain)
        world.person.types(ServiceInMemory.secret("wrong"))
        let unlock = Unlock(keychain: nil, password: nil)
        #expect(refusal(unlock, browser) == .refused(.authenticationFailed))
        #expect(world.vault.lockState(of: keychain) != .unlocked)
        world.person.types(ServiceInMemory.secret(ServiceInMemory.password))
        #expect(refusal(unlock, browser) == nil)
        #expect(world.vault.lockState(of: keychain) == .unlocked)
        #expect(world.person.questions.count == 2)
        // One that is open asks nothing.
        #expect(refusal(unlock, browser) == nil)
        #expect(world.person.questions.count == 2)
    }

    @Test func `with no user to ask, a locked keychain stays so`() throws {
        try world.vault.lock(try world.keychain)
        world.person.leaves()
        #expect(
            refusal(Unlock(keychain: nil, password: nil), browser)
                == .refused(.interactionNotAllowed))
        #expect(
            refusal(CreateKeychain(name: "work", password: nil, asks: true), browser)
                == .refused(.interactionNotAllowed))
    }

    @Test func `a new keychain has the password that its user types`() throws {
        world.person.types(ServiceInMemory.secret("chosen"))
        let create = CreateKeychain(name: "work", password: nil, asks: true)
        #expect(refusal(create, browser) == nil)
        let work = try world.folder.keychain("work", of: geteuid())
        #expect(throws: Never.self) {
            _ = try world.protectors.unlock(work, ServiceInMemory.secret("chosen"))
        }
        let asked = world.person.questions.count
        #expect(refusal(create, browser) == .state(.duplicateKeychain))
        #expect(world.person.questions.count == asked)
        let both = CreateKeychain(
            name: "b", password: ServiceInMemory.secret("x"), asks: true)
        #expect(refusal(both, browser) == .invalid(.badRequest))
    }

    @Test func `a program that a deputy brings asks its user before it sets the default`() throws {
        let change = Preferences(.defaultKeychain("login"))
        #expect(refusal(change, browser) == nil)
        #expect(world.person.questions.count == 1)
        world.person.leaves()
        #expect(refusal(change, browser) == .refused(.interactionNotAllowed))
        #expect(refusal(change, .git) == nil)
    }
}

extension Program {
    /// As a deputy brings it.
    var relayed: Program {
        var program = self
        program.caller = Caller(
            user: caller.user, process: caller.process, identity: caller.identity,
            session: caller.session, terminal: caller.terminal,
            accessGroups: caller.accessGroups, via: .secretService)
        return program
    }
}
