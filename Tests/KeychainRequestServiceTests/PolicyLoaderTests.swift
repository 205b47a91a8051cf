// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainActivePolicy
@testable import PolicyLoading
import KeychainLinuxSystem
import KeychainModel
import KeychainPolicyEngine
import KeychainRequestAudit
import ProgramHandoff
import SystemTestSupport
import Testing

/// A starter that is not there at first.
private struct LateStarter: ProgramStarter {
    let isAnswering: Box<Bool>
    let script: ScriptStarter

    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        guard isAnswering.value else { throw .notAnswering }
        return try script.start(request, passing: descriptors)
    }
}

/// How the administrator's policies come into force. The compiler is a script that hands over what
/// the test has compiled.
@Suite struct PolicyLoaderTests {
    private static let one = AskingVerb.rule("forbid: No.", "export")
    private static let two =
        one + "  - id: second\n    require: presence\n    operations: add\n"

    private let folder: ScratchFolder
    private let policy = ActivePolicy()
    private let loader: PolicyLoader

    init() throws {
        folder = try ScratchFolder()
        for name in ["rules", "state"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: false)
        }
        loader = PolicyLoader(
            starter: ScriptStarter(path: folder("compiler")),
            folders: [folder("none"), folder("rules")],
            stateFolder: folder("state"), policy: policy, log: { _ in })
    }

    /// From now on the compiler does what the words of a shell say.
    private func compiler(_ words: String) throws {
        _ = try folder.script(
            "compiler", "echo \"$@\" > \(folder("arguments"))\n\(words)")
    }

    private func compiler(
        handsOver rules: String, _ sources: [PolicyBundle.Source] = [],
        if condition: String = "true"
    ) throws {
        let pair = try ServiceInMemory.rules(rules)
        let bundle = PolicyBundle(
            pair.judge.policy, reach: pair.reach, summary: "file x.yaml", sources: sources)
        try Data(bundle.bytes).write(to: URL(filePath: folder("bundle")))
        try compiler("\(condition) || exit 1\n/bin/cat \(folder("bundle")) >&3")
    }

    private var rules: Int { policy.now.judge.policy.statementCount }
    private var arguments: String? {
        try? String(contentsOfFile: folder("arguments"), encoding: .utf8)
    }

    @Test func `what the compiler hands over is in force, and everyone may know`() throws {
        try compiler(handsOver: Self.one)
        #expect(loader.load())
        #expect(rules == 1)
        #expect(!policy.report.isDegraded)
        #expect(policy.report.text == "1 rules in force\nfile x.yaml")
        // Folders that are not there are not read.
        #expect(arguments == "policy compile --policies \(folder("rules"))\n")
    }

    @Test func `what comes into force has a revision, and is told with its files`() throws {
        let file = PolicyBundle.Source(level: 0, name: "50-x.yaml", bytes: Array("one".utf8))
        try compiler(handsOver: Self.one, [file])
        loader.start()
        let first = try #require(policy.now.judge.revision).description
        #expect(first.hasSuffix(".1") && first.utf8.count == 14)
        let load = try #require(policy.report.load)
        #expect(load.rules == 1)
        #expect(load.files.map(\.path) == [folder("rules") + "/50-x.yaml"])
        #expect(load.files.allSatisfy { $0.hash.utf8.count == 12 })
        // The same again is another taking up of the same; another set is another hash.
        #expect(loader.load())
        #expect(policy.now.judge.revision?.description == first.dropLast(1) + "2")
        try compiler(handsOver: Self.two, [file])
        #expect(loader.load())
        let third = try #require(policy.now.judge.revision).description
        #expect(third.hasSuffix(".3") && third.prefix(12) != first.prefix(12))
        try compiler("exit 1")
        #expect(!loader.load())
        #expect(policy.report.load == nil)
        #expect(policy.now.judge.revision?.description == third)
    }

    @Test func `where a file is mistaken, what was in force stays`() throws {
        try compiler(handsOver: Self.two)
        loader.start()
        try compiler("printf 'x.yaml:3: no such field' >&3\nexit 1")
        #expect(!loader.load())
        #expect(rules == 2)
        #expect(policy.report.isDegraded)
        #expect(
            policy.report.text
                == "not taken; what was in force stays in force\nx.yaml:3: no such field")
    }

    @Test func `an output that is no policy is not taken`() throws {
        try compiler(handsOver: Self.one)
        loader.start()
        for words in ["printf 'KCPP' >&3", "exit 0", "kill -9 $$"] {
            try compiler(words)
            #expect(!loader.load(), "\(words)")
            #expect(rules == 1 && policy.report.isDegraded)
        }
    }

    private func other(_ starter: any ProgramStarter) -> PolicyLoader {
        PolicyLoader(
            starter: starter, folders: [folder("rules")], stateFolder: folder("state"),
            policy: policy, log: { _ in })
    }

    @Test func `where the starter does not answer, the report says so`() throws {
        try compiler(handsOver: Self.one)
        loader.start()
        let next = other(RefusingStarter(error: .notAnswering))
        #expect(!next.load())
        #expect(rules == 1 && policy.report.isDegraded)
        #expect(
            policy.report.text.hasPrefix(
                "could not be compiled (keychain-starter does not answer)"))
        #expect(!other(LostStarter()).load())
        #expect(policy.report.text.hasPrefix("could not be compiled (keychain-starter ended)"))
    }

    @Test func `what failed without its compiler is tried again, and a mistake is not`() throws {
        let isAnswering = Box(false)
        let late = other(
            LateStarter(isAnswering: isAnswering, script: ScriptStarter(path: folder("compiler"))))
        try compiler(handsOver: Self.one)
        late.start()
        #expect(policy.report.isDegraded)
        isAnswering.change { $0 = true }
        late.loadIfChanged()
        #expect(rules == 1 && !policy.report.isDegraded)
        try compiler("exit 1")
        #expect(!late.load())
        try compiler(handsOver: Self.two)
        late.loadIfChanged()
        #expect(rules == 1 && policy.report.isDegraded)
    }

    // MARK: A start beside files that can't be used

    @Test func `the last that could be used are in force`() throws {
        try compiler(handsOver: Self.two)
        loader.start()
        try compiler("exit 1")
        let policy = ActivePolicy()
        let next = PolicyLoader(
            starter: ScriptStarter(path: folder("compiler")), folders: [folder("rules")],
            stateFolder: folder("state"),
            policy: policy, log: { _ in })
        next.start()
        #expect(policy.now.judge.policy.statementCount == 2)
        #expect(policy.report.isDegraded)
        #expect(policy.report.text.hasPrefix("the last that could be used are in force"))
    }

    @Test func `where those are of another version, their files are compiled again`() throws {
        let source = PolicyBundle.Source(level: 1, name: "x.yaml", bytes: Array("policy: v1".utf8))
        try compiler(handsOver: Self.two, [source])
        loader.start()
        try Data("another version".utf8).write(to: URL(filePath: folder("state/policy.last-good")))
        policy.use(ActivePolicy.Pair(.empty, reach: .empty))
        try compiler(handsOver: Self.two, if: "[ \"$4\" = \(folder("state/policy.sources/1")) ]")
        loader.start()
        #expect(rules == 2)
        #expect(policy.report.text.hasPrefix("the last that could be used were compiled again"))
    }

    @Test func `where none ever could be used, secrets take the password`() throws {
        try compiler("exit 1")
        loader.start()
        #expect(rules == PolicyBundle.whenBroken.policy.statementCount && rules > 0)
        #expect(policy.report.isDegraded)
        #expect(policy.report.text.contains("none could be used"))
    }
}
