// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainActivePolicy
import KeychainMessages
import KeychainModel
import KeychainPolicyModel
import KeychainRequestAudit
import Testing

@testable import KeychainRequestService

@Suite struct CopyMatchingTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    @Test func `a program reads its own item, and no other program does`() throws {
        try world.add("mail")
        #expect(try world.read("mail") == "secret of mail")
        #expect(throws: RequestError.state(.notFound)) {
            try world.read("mail", as: Program("/usr/bin/mail", process: 30))
        }
        #expect(world.person.questions.isEmpty)
    }

    @Test func `a plain read takes the keys once and judges once`() throws {
        try world.add("mail")
        try world.use(rules: AskingVerb.rule("audit: full", "read-secret"))
        let program = Program("/usr/bin/git", process: 10)
        let looks = world.vault.looks
        let facts = program.looksAtFacts
        #expect(try world.read("mail", as: program) == "secret of mail")
        #expect(world.vault.looks == looks + 1)
        #expect(program.looksAtFacts == facts + 1)
    }

    @Test(arguments: [("2024-10-10", 20_000, true), ("2079-07-10", 40_000, false)])
    func `a rule on trial forbids from the day on which its trial ends`(
        _ end: String, _ writtenOn: Int32, _ forbids: Bool
    ) throws {
        try world.add("mail")
        let onTrial = "mode: complain\n    expires: \(end)\n    forbid: No."
        world.policy.use(
            try ServiceInMemory.rules(
                AskingVerb.rule(onTrial, "read-secret"), writtenOn: writtenOn))
        let refusal = refusal { () throws(RequestError) in _ = try world.read("mail") }
        #expect(refusal == (forbids ? .refused(.forbidden) : nil))
    }

    @Test func `another person's approval lets a program read, and is what was proven`() throws {
        try world.add("mail")
        try world.use(
            rules: AskingVerb.rule("require: {approval: [alice, bob, eve]}", "read-secret"))
        let program = Program("/usr/bin/git", process: 10)
        #expect(try world.read("mail", as: program) == "secret of mail")
        #expect(world.person.questions == ["approval by bob, eve"])
        #expect(program.notes.proven.proofs.map(\.method) == [.approval(by: "bob")])
        // The asker's own is none.
        try world.use(rules: AskingVerb.rule("require: {approval: alice}", "read-secret"))
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            try world.read("mail", as: program)
        }
    }

    @Test func `one question is asked for all items of a search`() throws {
        for name in ["a", "b", "c"] {
            try world.add(name) {
                $0.accessControl = .guarded
                $0.attributes[.comment] = .string("all")
            }
        }
        var query = ItemQuery(.genericPassword)
        query.attributes = [.comment: .string("all")]
        query.returnFields = [.data, .attributes]
        query.limit = 5
        #expect(try world.ask(CopyMatching(query)).count == 3)
        #expect(world.person.questions.count == 1)
    }

    @Test func `an item that was changed during the question is judged as it is then`() throws {
        try world.add("mail") { $0.accessControl = .guarded }
        let (service, query) = (world.service, ServiceInMemory.query("mail"))
        world.person.meanwhile {
            // Its owner's user proves to be there for that, too.
            _ = try? service.answer(Delete(query), for: Program.git) { _ in }
        }
        // What was found is answered as it was found, or not at all.
        _ = try? world.read("mail")
        #expect(throws: RequestError.state(.notFound)) { try world.read("mail") }
    }

    @Test func `who may not be asked is refused, and what is left out is not missed`() throws {
        try world.add("mail") { $0.accessControl = .guarded }
        var query = ServiceInMemory.query("mail")
        query.authenticationUI = .fail
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try world.ask(CopyMatching(query))
        }
        query.authenticationUI = .skip
        #expect(throws: RequestError.state(.notFound)) { try world.ask(CopyMatching(query)) }
        #expect(world.person.questions.isEmpty)
    }

    @Test func `an item that can't be proven for any more is left out like one that asks`() throws {
        try world.add("mail") { $0.accessControl = .guarded }
        try world.add("plain")
        world.person.canProveNothing()
        var query = ItemQuery(.genericPassword)
        query.returnFields = .data
        query.limit = 5
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            try world.ask(CopyMatching(query))
        }
        query.authenticationUI = .skip
        #expect(try world.ask(CopyMatching(query)).count == 1)
        query.attributes = [.service: .string("mail")]
        #expect(throws: RequestError.state(.notFound)) { try world.ask(CopyMatching(query)) }
    }

    // MARK: Another program's item

    @Test func `a yes for once opens the item once`() throws {
        try world.add("mail") { $0.trusted = [] }
        let mail = Program("/usr/bin/mail", process: 30)
        world.person.chooses(.once)
        #expect(try world.read("mail", as: mail) == "secret of mail")
        #expect(try world.read("mail", as: mail) == "secret of mail")
        #expect(world.person.questions.count == 2)
        world.person.chooses(.always)
        #expect(try world.read("mail", as: mail) == "secret of mail")
        #expect(try world.read("mail", as: mail) == "secret of mail")
        #expect(world.person.questions.count == 3)
    }

    @Test func `a list is not written where the policy forbids it meanwhile`() throws {
        try world.add("mail") { $0.trusted = [] }
        world.person.chooses(.always)
        let (policy, forbidding) = (
            world.policy, try ServiceInMemory.rules(AskingVerb.rule("forbid: No.", "change-acl"))
        )
        world.person.meanwhile { policy.use(forbidding) }
        let before = try world.state()
        #expect(throws: RequestError.refused(.forbidden)) {
            try world.read("mail", as: Program("/usr/bin/mail", process: 30))
        }
        #expect(try world.state() == before)
    }

    // MARK: A locked keychain

    @Test func `a keychain that is out of step is opened once, by its older password`() throws {
        try world.add("mail")
        try world.vault.lock(world.keychain)
        #expect(throws: RequestError.state(.locked)) { try world.read("mail") }
        world.vault.getOutOfStep()
        world.person.types(ServiceInMemory.secret("wrong"))
        #expect(throws: RequestError.refused(.authenticationFailed)) { try world.read("mail") }
        world.person.types(ServiceInMemory.secret(ServiceInMemory.password))
        #expect(try world.read("mail") == "secret of mail")
        #expect(try world.read("mail") == "secret of mail")
        #expect(world.person.questions.count == 2)
    }

    @Test func `what wants a proof of its own asks, whatever its context has proven`() throws {
        try world.add("mail")
        try world.use(
            rules: AskingVerb.rule("require: presence\n    scope: operation", "read-secret"))
        var program = Program("/usr/bin/git", process: 10)
        program.context = AuthenticationContext()
        for count in 1...2 {
            #expect(try world.read("mail", as: program) == "secret of mail")
            #expect(world.person.questions.count == count)
        }
        try world.ask(Authenticate(.devicePasscode), program)
        #expect(try world.read("mail", as: program) == "secret of mail")
        #expect(world.person.questions.count == 4)
    }

    @Test func `a read by an earlier proof looks up nothing for a question`() throws {
        try world.add("mail") { $0.accessControl = .guarded }
        var program = Program("/usr/bin/git", process: 10)
        program.context = AuthenticationContext()
        #expect(try world.read("mail", as: program) == "secret of mail")
        let looks = world.person.looksAtProvable
        #expect(looks > 0)
        #expect(try world.read("mail", as: program) == "secret of mail")
        #expect(world.person.questions.count == 1)
        #expect(world.person.looksAtProvable == looks)
        // Another context has proven nothing.
        program.context = AuthenticationContext()
        #expect(try world.read("mail", as: program) == "secret of mail")
        #expect(world.person.questions.count == 2)
        #expect(world.person.looksAtProvable > looks)
    }

    @Test func `a question for an application password is counted as a question`() throws {
        let context = AuthenticationContext()
        context.applicationPassword = ServiceInMemory.secret("app")
        var program = Program.git
        program.context = context
        try world.add("mail", as: program) { $0.accessControl = .withPassword }
        try world.use(
            rules: AskingVerb.rule(
                "limit: {rate: 1/1h, by: [uid], then: deny}\n    when: {prompted: true}",
                "read-secret"))
        world.person.types(ServiceInMemory.secret("app"))
        #expect(try world.read("mail") == "secret of mail")
        #expect(throws: RequestError.refused(.tooManyRequests)) { try world.read("mail") }
        #expect(world.person.questions.count == 1)
        // With the password in its context no question is put.
        #expect(try world.read("mail", as: program) == "secret of mail")
    }

    @Test func `a record tells whether the user could be asked, though no rule goes by it`() throws
    {
        try world.add("mail")
        try world.use(rules: AskingVerb.rule("audit: full", "read-secret"))
        // Programs of its own: what is noted of other tests' requests is not these ones'.
        #expect(try world.read("mail", as: Program("/usr/bin/git", process: 10)) != nil)
        let asked = try lastRecord()
        #expect(asked.contains("\"interactive\":true"), "\(asked)")
        world.person.leaves()
        #expect(try world.read("mail", as: Program("/usr/bin/git", process: 10)) != nil)
        let alone = try lastRecord()
        #expect(alone.contains("\"interactive\":false"), "\(alone)")
    }

    /// Without the blanks and the marks of a text within a text.
    private func lastRecord() throws -> String {
        world.audit.flush()
        let text = try String(contentsOfFile: world.home + "/audit.jsonl", encoding: .utf8)
        let last = text.split(separator: "\n").last ?? ""
        return String(last.filter { $0 != " " && $0 != "\\" })
    }
}
