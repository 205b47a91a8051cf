// SPDX-License-Identifier: Apache-2.0
@testable import CallerIdentity
import Glibc
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import Testing

/// What the service tells of a process that asks for nothing.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct ProcessSubjectTests {
    private let server: ServerInMemory

    init() throws { server = try ServerInMemory() }

    private func words(_ process: UInt32, for user: UInt32) throws(RequestError) -> String {
        try ProcessSubject(process, for: user, server.resolver, server.directory)
            .words(askedBy: .empty)
    }

    private func child(_ body: (UInt32, PinnedProcess) throws -> Void) throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        defer { child.kill() }
        try body(UInt32(child.id), try #require(PinnedProcess(pid: child.id, pidfd: nil)))
    }

    @Test func `the facts are those of a program that connects`() throws {
        try child { id, process in
            let words = try words(id, for: geteuid())
            let program = ProgramLook(at: process)
            let label = process.securityLabel()
            let caller = server.resolver.resolve(
                process, process.id, running: program, of: geteuid(), label: label)
            let facts = CallerFacts(
                process, running: program, in: process.groups(), label: label, server.directory
            )
            .facts(of: caller, .told)
            let lines = words.split(separator: "\n").map(String.init)
            #expect(lines.first == "subject \(subject(of: facts, process, caller))")
            let groups = caller.accessGroups.map { "access-group \(JSONText($0))" }
            #expect(lines.filter { $0.hasPrefix("access-group ") } == groups)
        }
    }

    private func subject(
        of facts: PolicyFacts, _ process: PinnedProcess, _ caller: Caller
    ) -> String {
        var facts = facts
        server.resolver.sessionAttributes(caller, process, runsRootsFile: false)
            .add(.told, to: &facts)
        return facts.json(.subject) ?? ""
    }

    @Test func `a fact that is unknown has a reason`() throws {
        try child { id, _ in
            let words = try words(id, for: geteuid())
            #expect(words.contains(#""digest": "unknown!""#))
            #expect(
                words.contains(
                    "unknown subject.digest no rule in force asks for it, or the program's file "
                        + "can't be read"))
            let unknown = words.split(separator: "unknown!").count - 1
            #expect(words.split(separator: "\n").count { $0.hasPrefix("unknown ") } == unknown)
        }
    }

    @Test func `of processes with other rights a user hears nothing`() throws {
        try child { id, _ in
            #expect(throws: RequestError.state(.notFound)) { try words(id, for: 54_321) }
            _ = try words(id, for: 0)
        }
    }

    @Test(arguments: [0, UInt32(Int32.max), .max])
    func `a number that no process has is not found`(_ number: UInt32) {
        #expect(throws: RequestError.state(.notFound)) { try words(number, for: 0) }
    }
}
