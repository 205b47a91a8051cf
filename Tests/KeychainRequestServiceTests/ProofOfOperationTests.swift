// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import KeychainPolicyCompiler
import Foundation
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainRequestAudit
import KeychainSecrets
import PolicyLanguage
import PolicySyntax
import Testing

@testable import KeychainActivePolicy
@testable import KeychainEmbedded
@testable import KeychainRequestService
@testable import KeychainUserPresence
@testable import KeychainVaults

/// What one program gets of another's items, under the vendor's rules, and what is asked before.
@Suite final class ProofOfOperationTests {
    private let home = NSTemporaryDirectory() + "proofs-" + UUID().uuidString
    private let person = Person()
    private let evidence = EvidenceStore(keyring: nil)
    private let policy: ActivePolicy
    private let service: KeychainService
    private static let vendor = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Policies/10-baseline.yaml").path

    init() throws {
        let folder = KeychainFolder(
            home, layout: .ownUser, accountName: { _ in "a" })
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let protectors = Protectors(
            folder: folder, deviceKey: try Protectors.deviceKey(at: home + "/device.key"),
            allowsDeviceProtector: true, passwordCost: .least)
        policy = ActivePolicy(try Self.pair())
        var parts = KeychainService.Parts(
            folder: folder, vault: EmbeddedVault(protectors: protectors), protectors: protectors,
            authenticator: person, mode: .daemon)
        parts.policy = policy
        parts.evidence = evidence
        service = KeychainService(parts)
        try protectors.create(.login, of: geteuid(), password: Self.secret("pass"))
        try ask(Unlock(keychain: nil, password: Self.secret("pass")), Program.git)
        try add("mail", as: .git)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    // MARK: Words

    private static func secret(_ text: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(text.utf8)))
    }

    /// The vendor's rules and, where there are some, others.
    private static func pair(with more: String = "") throws -> ActivePolicy.Pair {
        let vendor = try Data(contentsOf: URL(filePath: Self.vendor))
        var files = [[SourceFile(path: "10-baseline.yaml", bytes: [UInt8](vendor))]]
        if !more.isEmpty {
            let text = "policy: v1\nname: more\n" + more
            files.append([SourceFile(path: "50-more.yaml", bytes: Array(text.utf8))])
        }
        let loaded = LoadedPolicies(files, today: 20_778)
        #expect(!loaded.hasErrors)
        return ActivePolicy.Pair(
            try CompiledPolicy(loaded.policy), reach: try CompiledPolicy(loaded.policy.reachOnly))
    }

    @discardableResult
    private func ask<V: Verb>(_ verb: V, _ program: Program) throws(RequestError) -> V.Answer {
        try service.answer(verb, for: program) { _ in }
    }

    private func add(
        _ name: String, as program: Program, _ change: (inout NewItem) -> Void = { _ in }
    ) throws(RequestError) {
        var item = NewItem(.genericPassword)
        item.attributes = [.service: .string(name), .account: .string("me")]
        change(&item)
        try ask(Add(item, secret: Self.secret(name), returning: .reference), program)
    }

    private func query(_ name: String? = "mail") -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        if let name { query.attributes = [.service: .string(name), .account: .string("me")] }
        query.limit = 1
        return query
    }

    private func read(_ name: String = "mail", as program: Program) throws(RequestError) -> Int {
        var query = query(name)
        query.returnFields = .data
        return try ask(CopyMatching(query), program).count
    }

    private func list(as program: Program) throws(RequestError) -> Int {
        var query = query(nil)
        query.limit = nil
        query.returnFields = .attributes
        return try ask(CopyMatching(query), program).count
    }

    private func move(
        _ name: String = "mail", to group: String, as program: Program
    ) throws(RequestError) {
        var change = ItemChange()
        change.accessGroup = group
        try ask(Update(query(name), change, secret: nil), program)
    }

    private func protect(
        _ name: String, _ accessible: Accessibility, as program: Program,
        _ ui: ItemQuery.AuthenticationUI = .allow
    ) throws(RequestError) {
        var query = query(name)
        query.authenticationUI = ui
        var change = ItemChange()
        change.accessible = accessible
        try ask(Update(query, change, secret: nil), program)
    }

    // MARK: The minutes after a login

    private func isRefusedEverything(_ tool: Program) {
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try self.read(as: tool)
        }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try self.list(as: tool)
        }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try self.move(to: "exe:/usr/bin/keychainctl", as: tool)
        }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try self.ask(Delete(self.query()), tool)
        }
    }

    @Test func `a tool that starts by itself after the login gets nothing of others`() throws {
        evidence.addLogin(of: geteuid(), in: SessionID(rawValue: 7))
        person.leaves()
        isRefusedEverything(.tool)
        #expect(try read(as: .git) == 1)
    }

    @Test func `a question of another program opens nothing to a tool`() throws {
        let terminal = Program("/usr/bin/git", process: 10, terminal: 3)
        evidence.add([.factor(.passcode)], for: terminal)
        person.leaves()
        isRefusedEverything(.tool)
        isRefusedEverything(Program("/usr/bin/keychainctl", process: 21, terminal: 3))
    }

    @Test func `an administrator's rule may count the login`() throws {
        evidence.addLogin(of: geteuid(), in: SessionID(rawValue: 7))
        policy.use(
            try Self.pair(
                with: """
                    rules:
                      - id: more.tools
                        replaces: base.tools-ask-first
                        require: {any: [login, presence]}
                        within: 5m
                        scope: session
                        operations: read-secret
                        subject: {exe: /usr/bin/keychainctl, member: false}

                    """))
        person.leaves()
        #expect(try read(as: .tool) == 1)
    }

    // MARK: Reading

    @Test func `an answer serves the tool on its terminal, and is told to`() throws {
        let tool = Program("/usr/bin/keychainctl", process: 20, terminal: 0x8803)
        #expect(try read(as: tool) == 1)
        #expect(person.questions.count == 1)
        #expect(
            person.questions[0].hasSuffix(
                """
                For 5 minutes the answer also opens the items of all your other programs to the \
                same program on terminal pts/3.
                """))
        #expect(try read(as: Program("/usr/bin/keychainctl", process: 21, terminal: 0x8803)) == 1)
        #expect(person.questions.count == 1)
        #expect(try read(as: Program("/usr/bin/keychainctl", process: 22, terminal: 0x8804)) == 1)
        #expect(try read(as: Program("/usr/bin/keychainctl", process: 23)) == 1)
        #expect(person.questions.count == 3)
    }

    @Test(arguments: [Program.git, .tool])
    func `a read that an answer opened is recorded with what it took`(program: Program) throws {
        evidence.addLogin(of: geteuid(), in: SessionID(rawValue: 7))
        try add("bank", as: .git) { $0.accessControl = .guarded }
        let asking = Program(program.path, process: program.caller.process)
        #expect(try read("bank", as: asking) == 1)
        #expect(person.questions.count == 1)
        #expect(asking.notes.account()?.decision.outcome == .challenge)
    }

    @Test func `a read that is refused for want of a user is recorded as refused`() throws {
        evidence.addLogin(of: geteuid(), in: SessionID(rawValue: 7))
        person.leaves()
        let tool = Program("/usr/bin/keychainctl", process: 20)
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            _ = try self.read(as: tool)
        }
        #expect(tool.notes.account()?.decision.outcome == .interactionNotAllowed)
    }

    @Test func `without a terminal an answer serves the process and its children`() throws {
        #expect(try read(as: .tool) == 1)
        #expect(person.questions[0].contains("this one run of the program and what it starts."))
        #expect(try read(as: .tool) == 1)
        var child = Program("/usr/bin/keychainctl", process: 21)
        child.ancestors = [20]
        #expect(try read(as: child) == 1)
        #expect(person.questions.count == 1)
        #expect(try read(as: Program("/usr/bin/keychainctl", process: 22)) == 1)
        #expect(person.questions.count == 2)
        child = Program("/usr/bin/keychainctl", process: 23, terminal: 4)
        child.ancestors = [20]
        #expect(try read(as: child) == 1)
        #expect(person.questions.count == 3)
    }

    @Test func `everything is listed for a proof of that alone`() throws {
        let tool = Program("/usr/bin/keychainctl", process: 20, terminal: 3)
        #expect(try read(as: tool) == 1)
        for number in 2...3 {
            #expect(try list(as: tool) == 1)
            #expect(person.questions.count == number)
        }
        #expect(person.questions[2].contains("wants to see the attributes of"))
        #expect(try list(as: .git) == 1)
        #expect(person.questions.count == 3)
    }

    // MARK: Moving

    @Test func `an item moves to the tool's own group for a proof of the move`() throws {
        let tool = Program("/usr/bin/keychainctl", process: 20, terminal: 3)
        #expect(try read(as: tool) == 1)
        try move(to: "exe:/usr/bin/keychainctl", as: tool)
        #expect(person.questions.count == 2)
        #expect(
            person.questions[1].hasSuffix(
                """
                It would give the item for good to “/usr/bin/keychainctl”, which opens it unasked, \
                whichever program starts that.
                """))
        #expect(throws: RequestError.state(.notFound)) { _ = try self.read(as: .git) }
    }

    @Test func `what was asked about is judged again after the question`() throws {
        let forbidding = try Self.pair(
            with: """
                rules:
                  - id: more.no-moves
                    forbid: No.
                    operations: move

                """)
        let policy = policy
        person.meanwhile { policy.use(forbidding) }
        #expect(throws: (any Error).self) {
            try self.move(to: "exe:/usr/bin/keychainctl", as: .tool)
        }
        #expect(try read(as: .git) == 1)
    }

    @Test func `a program moves its own item unasked where it may add items`() throws {
        let git = Program("/usr/bin/git", process: 10, groups: ["own"])
        try move(to: "own", as: git)
        #expect(throws: RequestError.refused(.notEntitled)) { try self.move(to: "office", as: git) }
        policy.use(
            try Self.pair(
                with: """
                    groups:
                      - id: more.office
                        group: office
                        members: [{exe: /usr/bin/git, trusted-exe: true}]
                      - id: more.library
                        group: library
                        members: [{exe: /usr/bin/git, trusted-exe: true}]
                        mode: read
                    rules:
                      - id: more.no-adding
                        forbid: Full.
                        operations: add
                        resource: {access-group: office, service: full}

                    """))
        try add("full", as: git)
        #expect(throws: RequestError.refused(.notEntitled)) {
            try self.move(to: "library", as: git)
        }
        #expect(throws: RequestError.state(.notFound)) {
            try self.move("full", to: "office", as: git)
        }
        try move(to: "office", as: git)
        #expect(try read(as: .git) == 1)
        try move(to: "own", as: git)
        #expect(person.questions.isEmpty)
    }

    @Test func `a share of updates is none of moves`() throws {
        policy.use(
            try Self.pair(
                with: """
                    rules:
                      - id: more.mender
                        share: It mends items.
                        operations: [read-attributes, update]
                        subject: {exe: /usr/bin/mender, trusted-exe: true, user: a}
                        resource: {access-group: "exe:/usr/bin/git"}

                    """))
        let mender = Program("/usr/bin/mender", process: 30)
        var change = ItemChange()
        change.attributes = [.comment: .string("mended")]
        #expect(try ask(Update(query(), change, secret: nil), mender) == 1)
        #expect(throws: RequestError.state(.notFound)) {
            try self.move(to: "exe:/usr/bin/mender", as: mender)
        }
        #expect(try list(as: mender) == 1)
        #expect(person.questions.isEmpty)
    }

    // MARK: Deleting

    @Test func `deleting asks once, for the items that the question is about`() throws {
        try add("mail2", as: .git)
        let service = service
        person.meanwhile {
            var item = NewItem(.genericPassword)
            item.attributes = [.service: .string("late"), .account: .string("me")]
            _ = try? service.answer(
                Add(item, secret: nil, returning: .reference), for: Program.git
            ) { _ in }
        }
        #expect(try ask(Delete(query(nil)), .tool) == 2)
        #expect(person.questions.count == 1)
        #expect(person.questions[0].contains("wants to delete"))
        #expect(try list(as: .git) == 1)
        #expect(try ask(Delete(query("late")), .tool) == 1)
        #expect(person.questions.count == 2)
    }

    @Test func `who is forbidden to ask deletes nothing of others`() throws {
        var quiet = query()
        quiet.authenticationUI = .fail
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try self.ask(Delete(quiet), .tool)
        }
        #expect(throws: RequestError.state(.notFound)) {
            try self.ask(Delete(self.query()), Program("/usr/bin/other", process: 31))
        }
        #expect(try ask(Delete(quiet), .git) == 1)
        #expect(person.questions.isEmpty)
    }

    // MARK: Protection

    @Test func `the accessibility of a program's own plain item changes unasked`() throws {
        person.leaves()
        try protect("mail", .afterFirstUnlock, as: .git)
        try protect("mail", .whenUnlocked, as: .git)
        try protect("mail", .always, as: .git, .fail)
        #expect(try read(as: .git) == 1)
    }

    @Test func `the protection of an item with flags or a list is asked for`() throws {
        try add("flags", as: .git) {
            $0.accessControl = ItemAccessControl(
                protection: .whenUnlocked, operations: [.decrypt: .userPresence],
                defaultOperation: .always)
        }
        try add("list", as: .git) { $0.trusted = [.own] }
        for (number, name) in ["flags", "list"].enumerated() {
            #expect(throws: RequestError.refused(.interactionNotAllowed)) {
                try self.protect(name, .always, as: .git, .fail)
            }
            #expect(throws: RequestError.refused(.interactionNotAllowed)) {
                try self.protect(name, .always, as: .git, .skip)
            }
            #expect(person.questions.count == number)
            try protect(name, .always, as: .git)
            #expect(person.questions.count == number + 1)
            #expect(person.questions[number].hasPrefix("keychain-passcode"))
        }
    }

    @Test func `an update is judged by what the item becomes, too`() throws {
        policy.use(
            try Self.pair(
                with: """
                    rules:
                      - id: more.bank
                        require: passcode
                        operations: update
                        resource: {service: bank}

                    """))
        var change = ItemChange()
        change.attributes = [.service: .string("bank")]
        try ask(Update(query(), change, secret: nil), .git)
        #expect(person.questions.count == 1)
        person.leaves()
        change.attributes = [.service: .string("mail")]
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try self.ask(Update(self.query("bank"), change, secret: nil), .git)
        }
    }
}
