// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import Foundation
import KeychainAccessControl
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

@testable import KeychainRequestAudit

@Suite final class AuditLogTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("audit-\(UUID().uuidString)")
    private let log: AuditLog

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        log = AuditLog(folder: folder.path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func lines() throws -> [[String: Any]] {
        let text = try String(
            contentsOf: folder.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map {
            try #require(
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private static func subject(_ user: UInt32, _ program: String = "exe:/usr/bin/git")
        -> AuditLog.Subject
    {
        AuditLog.Subject(user: user, process: 7, program: program, session: nil)
    }

    @Test func `a user who is refused without end does not push the history out`() throws {
        log.record(.unlock, by: Self.subject(1), nil)
        for _ in 0..<10_000 { log.record(.add, by: Self.subject(2), .refused(.notEntitled)) }
        log.flush()
        let written = try lines()
        #expect(written.count <= 1 + AuditLog.burst + 2)
        #expect(written.first?["operation"] as? String == "unlock")
        let refused = written.filter { $0["outcome"] as? String == "notEntitled" }
        #expect(refused.compactMap { $0["count"] as? Int }.reduce(0, +) == 10_000)
    }

    @Test func `a user's many programs are counted as others`() throws {
        for number in 0..<5000 {
            log.record(.copyMatching, by: Self.subject(2, "exe:/tmp/\(number)"), .state(.notFound))
        }
        log.flush()
        let written = try lines()
        #expect(written.count == 17)
        #expect(written.contains { $0["program"] as? String == "others" })
        #expect(written.compactMap { $0["count"] as? Int }.reduce(0, +) == 5000)
    }

    @Test func `a user who is refused in many ways does not push the history out either`() throws {
        let operations: [AuditLog.Operation] = [
            .add, .update, .delete, .unlock, .lock, .setPassword, .createKeychain, .backup,
            .changeSettings, .changePreferences, .restore, .repair, .addProtector, .testProtector,
        ]
        let refusals: [RequestError] = [
            .state(.noSuchKeychain), .invalid(.badKeychainName), .invalid(.badRequest),
            .refused(.notEntitled),
        ]
        for number in 0..<9000 {
            log.record(
                operations[number % operations.count],
                by: Self.subject(2, "exe:/tmp/\(number / 56 % 40)"),
                refusals[number / 14 % refusals.count])
        }
        log.flush()
        let written = try lines()
        #expect(written.count <= AuditLog.burst + 1 + AuditLog.mostKinds + operations.count)
        #expect(written.compactMap { $0["count"] as? Int }.reduce(0, +) == 9000)
    }

    @Test func `a long text is cut`() throws {
        let program = String(repeating: "ü", count: 500_000)
        for _ in 0..<AuditLog.burst {
            log.record(.add, by: Self.subject(2, program), .refused(.notEntitled))
        }
        let written = try lines()
        #expect(written.count == AuditLog.burst)
        for line in written {
            let told = try #require(line["program"] as? String)
            #expect(told.utf8.count <= AuditRecord.longestText + 3)
            #expect(told.hasSuffix("ü…"))
        }
    }

    /// What rests on a proof needs no line of the allowance: one proof serves many requests.
    @Test func `a user's records have a pace, whatever they rest on`() throws {
        let proven = Evidence().adding(.factor(.passcode))
        let program = String(repeating: "x", count: 200)
        for _ in 0..<5000 {
            log.record(.copyMatching, by: Self.subject(2, program), evidence: proven, nil)
        }
        log.flush()
        log.record(.add, by: Self.subject(1), nil)
        let size = try Data(contentsOf: folder.appendingPathComponent("audit.jsonl")).count
        #expect(size < AuditLog.burstOfBytes + 10_000)
        #expect(try lines().last?["user"] as? Int == 1)
        log.finish()
        #expect(try lines().compactMap { $0["count"] as? Int }.reduce(0, +) == 5001)
    }

    @Test func `what a person has answered always has a line of its own`() throws {
        for _ in 0..<100 {
            log.record(
                .copyMatching, by: Self.subject(1), evidence: Evidence().adding(.factor(.passcode)),
                nil)
        }
        #expect(try lines().count == 100)
    }

    @Test func `plain reads are written together`() throws {
        for _ in 0..<100 { log.record(.copyMatching, by: Self.subject(1), nil) }
        log.flush()
        #expect(try lines().compactMap { $0["count"] as? Int } == [100])
    }

    /// The vendor's rules, compiled once.
    private static let judge = Result {
        let vendor = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Policies/10-baseline.yaml")
        let source = SourceFile(
            path: "10-baseline.yaml", bytes: [UInt8](try Data(contentsOf: vendor)))
        return Judge(try CompiledPolicy(LoadedPolicies([[source]], today: 20_778).policy))
    }

    @Test func `the account database is asked of a counted read after its answer`() throws {
        let notes = RequestNotes()
        notes.note(stranger: PolicyFacts(), .readSecret, try Self.judge.get())
        let answered = DispatchSemaphore(value: 0)
        var isTaken = false
        log.record(.copyMatching, by: Self.subject(1), .state(.notFound), notes: notes) {
            // What the program could change is taken at once.
            isTaken = true
            return {
                var facts = PolicyFacts()
                let isAnswered = answered.wait(timeout: .now() + 10) == .success
                facts[.group] = .known([isAnswered ? "after" : "before"])
                return facts
            }
        }
        #expect(isTaken)
        answered.signal()
        log.flush()
        let line = try #require(try lines().first)
        #expect(line["count"] as? Int == 1)
        #expect("\(line)".contains("after"))
    }

    @Test func `a line is in the file before the answer, with all that is known`() throws {
        let notes = RequestNotes()
        notes.note(stranger: PolicyFacts(), .add, try Self.judge.get())
        log.record(.add, by: Self.subject(1), .refused(.notEntitled), notes: notes) {
            {
                var facts = PolicyFacts()
                facts[.group] = .known(["wheel"])
                return facts
            }
        }
        #expect("\(try #require(try lines().first))".contains("wheel"))
    }

    /// A program asked for items of a group that it is not let into.
    private func refuse(_ user: UInt32, _ program: String) throws {
        let notes = RequestNotes()
        notes.note(stranger: PolicyFacts(), .add, try Self.judge.get())
        log.record(.add, by: Self.subject(user, program), .refused(.notEntitled), notes: notes)
    }

    @Test func `users hear of their own last refusal, root of any user's`() throws {
        #expect(log.lastDenied(of: 1) == nil && log.lastDenied(of: 0) == nil)
        try refuse(1, "exe:/usr/bin/first")
        try refuse(1, "exe:/usr/bin/second")
        try refuse(2, "exe:/usr/bin/third")
        log.record(.add, by: Self.subject(1, "exe:/usr/bin/granted"), nil)
        let own = try #require(log.lastDenied(of: 1))
        #expect(own.contains("/usr/bin/second") && own.contains(#""decision":"deny""#))
        #expect(try #require(log.lastDenied(of: 0)).contains("/usr/bin/third"))
        #expect(log.lastDenied(of: 3) == nil)
    }

    @Test func `the last refusals of so many users are kept`() throws {
        for user in 1...UInt32(AuditLog.mostDenied + 1) { try refuse(user, "exe:/usr/bin/git") }
        #expect(log.lastDenied(of: 1) == nil)
        #expect(log.lastDenied(of: 2) != nil)
        #expect(log.lastDenied(of: UInt32(AuditLog.mostDenied + 1)) != nil)
    }
}
