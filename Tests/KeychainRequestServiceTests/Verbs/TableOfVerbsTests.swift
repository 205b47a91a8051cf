// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainActivePolicy
import KeychainMessages
import KeychainModel
@testable import KeychainRequestService
import KeychainUserPresence
import Synchronization
import Testing

/// What holds for every verb that asks the user.
@Suite struct TableOfVerbsTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    /// Asks while something happens, and says what came of it; nil where it was granted.
    private func ask(
        _ verb: AskingVerb, meanwhile: @escaping @Sendable (ServiceInMemory) -> Void
    ) throws -> (refusal: RequestError?, before: [String], after: [String]) {
        let (request, program) = try verb.prepare(world)
        let before = try world.state()
        let shared = SharedWorld(world)
        world.person.meanwhile { meanwhile(shared.world) }
        let refusal = refusal { () throws(RequestError) in _ = try world.ask(request, program) }
        return (refusal, before, try world.state())
    }

    @Test(arguments: AskingVerb.allCases)
    func `it asks once, and does what it was asked for`(_ verb: AskingVerb) throws {
        let (request, program) = try verb.prepare(world)
        let refusal = refusal { () throws(RequestError) in _ = try world.ask(request, program) }
        #expect(refusal == nil)
        #expect(world.person.questions.count == verb.questions)
    }

    @Test(arguments: AskingVerb.allCases)
    func `a client that became another program during the question gets nothing`(
        _ verb: AskingVerb
    ) throws {
        let (request, program) = try verb.prepare(world)
        let before = try world.state()
        let looks = Mutex(0)
        let shared = SharedWorld(world)
        world.person.meanwhile {
            program.isSame.end()
            looks.withLock { $0 = shared.world.vault.looks }
        }
        var items = 0
        let refusal = refusal { () throws(RequestError) in
            func count<V: Verb>(_ verb: V) throws(RequestError) {
                let last = try world.service.answer(verb, for: program) {
                    items += ($0 as? [Item])?.count ?? 0
                }
                items += (last as? [Item])?.count ?? 0
            }
            try count(request)
        }
        #expect(refusal == .refused(.notEntitled))
        #expect(world.person.questions.count == verb.questions)
        #expect(items == 0)
        #expect(try world.state() == before)
        // Nor is a key taken, nor a proof kept for it.
        #expect(looks.withLock { world.vault.looks == $0 })
        #expect(world.evidence.evidence(for: program).isEmpty)
    }

    @Test(arguments: AskingVerb.onItems)
    func `what the policy forbids meanwhile is not done`(_ verb: AskingVerb) throws {
        let forbidding = try ServiceInMemory.rules(
            AskingVerb.rule(
                "forbid: No.", "[read-secret, read-attributes, list, add, update, delete]"))
        let (refusal, before, after) = try ask(verb) { $0.policy.use(forbidding) }
        #expect(refusal == .refused(.forbidden))
        #expect(before == after)
    }

    @Test(arguments: AskingVerb.needingKeys)
    func `keys and unlock are those from after the question`(_ verb: AskingVerb) throws {
        let (refusal, before, after) = try ask(verb) { world in
            do { try world.vault.lock(world.keychain) } catch { Issue.record(error) }
        }
        #expect(refusal == .state(.locked))
        #expect(before == after)
    }

    @Test(arguments: AskingVerb.allCases)
    func `what was done is recorded once, and what was refused too`(_ verb: AskingVerb) throws {
        let (request, program) = try verb.prepare(world)
        let earlier = try world.recorded().count
        _ = try world.ask(request, program)
        let granted = try world.recorded().dropFirst(earlier)
        // The end of a restore is recorded, not its beginning.
        let expected = verb == .restore ? 0 : verb == .readLocked ? 2 : 1
        #expect(granted.count == expected, "\(granted)")
        #expect(granted.allSatisfy { $0.hasSuffix(" allowed") })
        let refused = Program("/usr/bin/git", process: 10)
        refused.isSame.end()
        var gone = refused
        gone.context = program.context
        #expect(throws: RequestError.self) { _ = try world.ask(request, gone) }
        let last = try world.recorded().dropFirst(earlier + expected)
        #expect(last.count == 1, "\(last)")
    }
}

/// For closures that a test hands to the user.
private struct SharedWorld: @unchecked Sendable {
    let world: ServiceInMemory
    init(_ world: ServiceInMemory) { self.world = world }
}
