// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
import Testing

@testable import KeychainRequestService

/// One process has the machine's keychain open, and another one a user's: a program of that user
/// hears what it would hear of one process that has both.
@Suite final class MachineKeychainTests {
    private static let user: UInt32 = 1000
    private let home = NSTemporaryDirectory() + "machine-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    // MARK: Words

    /// The same keychains in one process, and in two.
    private struct Machine {
        let one: Worker
        let roots: Worker
        let users: Worker

        func prefer(_ list: [KeychainName], _ program: Program) throws {
            for worker in [one, users] {
                try worker.folder.changePreferences(of: program.caller) { $0.searchList = list }
            }
        }

        func lockLogin() throws {
            for worker in [one, users] {
                try worker.vault.lock(worker.folder.keychain(nil, of: MachineKeychainTests.user))
            }
        }
    }

    private func machine(
        withLogin: Bool = true, _ fill: (Worker) throws -> Void = { _ in }
    ) throws -> Machine {
        func path(_ name: String) -> String { home + "/" + name }
        try FileManager.default.createDirectory(
            atPath: path("made"), withIntermediateDirectories: false)
        let made = try Worker(path("made"), serving: nil)
        try made.protectors.create(.system, of: 0, password: nil)
        if withLogin { try made.protectors.create(.login, of: Self.user, password: nil) }
        try made.open(withLogin: withLogin)
        try add("a", "a of root's", to: "system", made)
        try add("b", "b of root's", to: "system", made)
        if withLogin {
            try add("a", "a of the user's", to: "login", made)
            try add("c", "c of the user's", to: "login", made)
        }
        try fill(made)
        for name in ["one", "roots", "users"] {
            try FileManager.default.copyItem(atPath: path("made"), toPath: path(name))
        }
        // The user's worker can't even look for the other one.
        try FileManager.default.removeItem(atPath: path("users") + "/0")
        let machine = Machine(
            one: try Worker(path("one"), serving: nil),
            roots: try Worker(path("roots"), serving: 0),
            users: try Worker(path("users"), serving: Self.user))
        for worker in [machine.one, machine.roots, machine.users] {
            try worker.open(withLogin: withLogin)
        }
        return machine
    }

    private func add(
        _ account: String, _ text: String, to keychain: String, _ worker: Worker
    ) throws {
        var item = NewItem(.genericPassword)
        item.keychain = keychain
        item.attributes = [.service: .string("s"), .account: .string(account)]
        _ = try worker.service.answer(
            Add(item, secret: ServiceInMemory.secret(text), returning: []),
            for: shop(of: keychain == "system" ? 0 : Self.user))
    }

    /// A service's program, in a login or in none.
    private func shop(
        of user: UInt32 = MachineKeychainTests.user, session: Int32? = nil,
        _ identity: Caller.Identity = .unit("shop.service")
    ) -> Program {
        var program = Program("/usr/bin/shop", process: 10)
        program.caller = Caller(
            user: user, process: 10, identity: identity,
            session: session.map(SessionID.init(rawValue:)), terminal: nil,
            accessGroups: identity.identifier.map { [$0] } ?? [])
        return program
    }

    private enum Heard: Equatable {
        case items([Item])
        case refused(RequestError)

        var secrets: [String]? {
            guard case .items(let items) = self else { return nil }
            return items.map { $0.secret?.text ?? "" }
        }
    }

    private func ask(_ query: ItemQuery, _ worker: Worker, _ program: Program) -> Heard {
        var items: [Item] = []
        do throws(RequestError) {
            let last = try worker.service.answer(CopyMatching(query), for: program) { part in
                items += part
            }
            return .items(items + last)
        } catch { return .refused(error) }
    }

    /// What the program hears of two processes, which is what it hears of one.
    @discardableResult
    private func ask(
        _ query: ItemQuery, _ machine: Machine, _ program: Program
    ) -> Heard {
        var between = program
        between.machine = RootsWorker(service: machine.roots.service)
        let heard = ask(query, machine.users, between)
        let expected = ask(query, machine.one, program)
        #expect(heard == expected, "\(query)")
        return heard
    }

    private func query(
        _ account: String?, in keychain: String? = nil, _ parts: ReturnFields = .data,
        limit: Int? = 1
    ) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.keychain = keychain
        query.attributes = [.service: .string("s")]
        if let account { query.attributes[.account] = .string(account) }
        query.returnFields = parts
        query.limit = limit
        return query
    }

    /// Queries of each keychain and of none, for each item and for all, in each form.
    private var queries: [ItemQuery] {
        var queries: [ItemQuery] = []
        for keychain in [nil, "system", "login", "other"] {
            for account in [nil, "a", "b", "none"] {
                for limit in [1, 3, nil] {
                    for parts: ReturnFields in [.data, .attributes, .persistentReference] {
                        queries.append(query(account, in: keychain, parts, limit: limit))
                    }
                }
            }
        }
        return queries
    }

    // MARK: Searches

    @Test func `a search finds the same in two processes as in one`() throws {
        let machine = try machine()
        let (outside, inside) = (shop(), shop(session: 7))
        for list: [KeychainName] in [
            [.login, .system], [.system, .login], [.login], [.system], [],
        ] {
            try machine.prefer(list, outside)
            for program in [outside, inside] {
                for query in queries { ask(query, machine, program) }
            }
        }
        try machine.prefer([.login, .system], outside)
        #expect(ask(query("a", in: "system"), machine, inside).secrets == ["a of root's"])
        #expect(ask(query("a"), machine, inside).secrets == ["a of the user's"])
        // For a program in no login it comes first.
        #expect(ask(query("a"), machine, outside).secrets == ["a of root's"])
        let all = ask(query(nil, limit: nil), machine, inside).secrets
        #expect(all?.prefix(2).allSatisfy { $0.hasSuffix("of the user's") } == true)
        #expect(all?.suffix(2).allSatisfy { $0.hasSuffix("of root's") } == true)
        guard case .items(let items) = ask(query("b", .attributes), machine, inside) else {
            Issue.record("nothing was found")
            return
        }
        #expect(items.map(\.keychain) == ["system"])
    }

    @Test func `it finds the same where the login keychain is missing, or locked`() throws {
        let without = try machine(withLogin: false)
        for program in [shop(), shop(session: 7)] {
            for query in queries { ask(query, without, program) }
        }
        #expect(ask(query("a"), without, shop(session: 7)).secrets == ["a of root's"])
        try FileManager.default.removeItem(atPath: home + "/made")
        for name in ["one", "roots", "users"] {
            try FileManager.default.removeItem(atPath: home + "/" + name)
        }
        let locked = try machine()
        try locked.lockLogin()
        for program in [shop(), shop(session: 7)] {
            for query in queries { ask(query, locked, program) }
        }
        #expect(ask(query("a"), locked, shop()).secrets == ["a of root's"])
        #expect(ask(query("a"), locked, shop(session: 7)) == .refused(.state(.locked)))
    }

    @Test func `a reference finds its item there`() throws {
        let machine = try machine()
        guard
            case .items(let items) = ask(
                query("b", in: "system", .persistentReference), machine, shop()),
            let reference = items.first?.reference
        else {
            Issue.record("nothing was found")
            return
        }
        var named = query(nil)
        named.attributes = [:]
        named.references = [reference]
        #expect(ask(named, machine, shop(session: 7)).secrets == ["b of root's"])
        try machine.prefer([.login], shop())
        #expect(ask(named, machine, shop(session: 7)) == .refused(.state(.notFound)))
    }

    @Test func `an answer that is too long for one part comes whole, in the order of the list`()
        throws
    {
        let large = String(repeating: "x", count: 200 * 1024)
        let machine = try machine { made in
            for number in 1...3 {
                try self.add("large\(number)", large, to: "system", made)
                try self.add("large\(number)", large, to: "login", made)
            }
        }
        for list: [KeychainName] in [[.login, .system], [.system, .login]] {
            try machine.prefer(list, shop())
            for limit in [4, 7, nil] {
                ask(query(nil, [.data, .attributes], limit: limit), machine, shop(session: 7))
            }
        }
    }

    @Test func `programs that are not the machine's hear of nothing there`() throws {
        let machine = try machine()
        for identity: Caller.Identity in [
            .trustedExecutable("/usr/bin/keychainctl"), .sandbox("flatpak:org.a"), .unknown,
        ] {
            let program = shop(identity)
            for query in queries { ask(query, machine, program) }
            #expect(
                ask(query("a", in: "system"), machine, program) == .refused(.state(.notFound)))
        }
    }

    @Test func `a program that does not reach the other process hears of nothing there`() throws {
        let machine = try machine()
        let program = shop(session: 7)
        #expect(
            ask(query("a", in: "system"), machine.users, program) == .refused(.state(.notFound)))
        #expect(ask(query("b"), machine.users, program) == .refused(.state(.notFound)))
        #expect(ask(query("c"), machine.users, program).secrets == ["c of the user's"])
    }

    @Test func `where the other process does not answer, that is what is said`() throws {
        let machine = try machine()
        var program = shop(session: 7)
        program.machine = Silence()
        for query in [query("a", in: "system"), query("b"), query(nil, limit: nil)] {
            #expect(ask(query, machine.users, program) == .refused(.failed(.notAvailable)))
        }
        #expect(ask(query("c"), machine.users, program).secrets == ["c of the user's"])
    }

    // MARK: Other verbs

    private func refusal(_ verb: some Verb, _ worker: Worker, _ program: Program) -> RequestError? {
        do throws(RequestError) {
            _ = try worker.service.answer(verb, for: program) { _ in }
            return nil
        } catch { return error }
    }

    @Test func `what no user may do with it is refused in the same words`() throws {
        let machine = try machine()
        var item = NewItem(.genericPassword)
        item.keychain = "system"
        item.attributes = [.service: .string("s"), .account: .string("new")]
        let secret = ServiceInMemory.secret("new")
        let verbs: [any Verb] = [
            Add(item, secret: secret, returning: []),
            Update(query("a", in: "system"), ItemChange(), secret: secret),
            Delete(query("a", in: "system")), Lock(keychain: "system"),
            Unlock(keychain: "system", password: secret),
            SetPassword(keychain: "system", old: nil, new: secret),
            CreateKeychain(name: "system", password: secret),
            DeleteKeychain(keychain: "system"), ListProtectors(keychain: "system"),
            CheckKeychain(keychain: "system", repair: false), ListGenerations(keychain: "system"),
            BeginBackup(keychain: "system"), BeginRestore(keychain: "system"),
            Preferences(.defaultKeychain("system")),
            Preferences(.alias("work", keychain: "system")),
            FindAttributed(keychain: "system", pairs: [:]), ReadFormerSecrets(keychain: "system"),
            ListLetIn(keychain: "system"),
        ]
        for program in [shop(), shop(.trustedExecutable("/usr/bin/keychainctl"))] {
            var between = program
            between.machine = RootsWorker(service: machine.roots.service)
            for verb in verbs {
                let expected = refusal(verb, machine.one, program)
                #expect(refusal(verb, machine.users, between) == expected, "\(verb)")
                #expect(refusal(verb, machine.users, program) == expected, "\(verb)")
            }
        }
        #expect(ask(query("a"), machine, shop()).secrets == ["a of root's"])
    }

    private func status(_ worker: Worker, _ program: Program) throws -> [KeychainStatus] {
        try worker.service.answer(Status(), for: program).keychains.map { status in
            var status = status
            // The copies lie elsewhere.
            status.path = status.path.split(separator: "/").suffix(2).joined(separator: "/")
            status.created = 0
            status.modified = 0
            return status
        }
    }

    @Test func `the status shows it to every program as before`() throws {
        let machine = try machine()
        for program in [shop(), shop(session: 7), shop(.unknown)] {
            var between = program
            between.machine = RootsWorker(service: machine.roots.service)
            let expected = try status(machine.one, program)
            #expect(expected.map(\.name) == ["login", "system"])
            #expect(try status(machine.users, between) == expected)
            #expect(try status(machine.users, program) == expected)
            between.machine = Silence()
            let silent = try status(machine.users, between)
            #expect(silent.map(\.name) == ["login", "system"])
            #expect(silent.last?.problem == .failed(.notAvailable))
        }
        // Of another user's keychains root's worker tells nothing.
        #expect(try status(machine.roots, shop()).map(\.name) == ["system"])
    }
}

/// A process with a part of the keychains, which the device's key opens, or with all of them.
private final class Worker: Sendable {
    let folder: KeychainFolder
    let protectors: Protectors
    let vault: MemoryVault
    let service: KeychainService

    init(_ path: String, serving user: UInt32?) throws {
        folder = KeychainFolder(
            path, layout: .folderPerUser, serving: user, accountName: { _ in "a" })
        protectors = Protectors(
            folder: folder, deviceKey: try Protectors.deviceKey(at: path + "/device.key"),
            allowsDeviceProtector: true, passwordCost: .least)
        vault = MemoryVault(protectors)
        let person = Person()
        person.leaves()
        service = KeychainService(
            KeychainService.Parts(
                folder: folder, vault: vault, protectors: protectors, authenticator: person,
                mode: .daemon))
    }

    /// Opens what is served of the two keychains.
    func open(withLogin: Bool) throws {
        var ids = [KeychainID(user: 0, name: .system)]
        if withLogin { ids.append(KeychainID(user: 1000, name: .login)) }
        for id in ids where folder.opens(id) {
            let keychain = try folder.keychain(id, for: id.user)
            try vault.keep(
                protectors.unlockWithDevice(keychain), of: keychain, for: Program.git.caller,
                since: vault.locks.now(id))
        }
    }
}

/// Root's worker, without a socket between.
private struct RootsWorker: MachineSearch {
    let service: KeychainService

    func ask<V: Verb>(
        _ verb: V, for client: any Client, _ part: (V.Answer) throws(RequestError) -> Void
    ) throws(RequestError) {
        try part(try service.answer(verb, for: client, emit: part))
    }
}

/// Root's worker, when it is not there.
private struct Silence: MachineSearch {
    func ask<V: Verb>(
        _ verb: V, for client: any Client, _ part: (V.Answer) throws(RequestError) -> Void
    ) throws(RequestError) {
        throw .failed(.notAvailable)
    }
}
