// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainActivePolicy
@testable import PolicyLoading
import KeychainPolicyEngine
import SystemTestSupport
import Testing

/// The policies that a start falls back on.
@Suite struct LastGoodPoliciesTests {
    private let folder: ScratchFolder
    private let kept: LastGoodPolicies

    init() throws {
        folder = try ScratchFolder()
        kept = LastGoodPolicies(stateFolder: folder.path, mostLevels: 2)
    }

    private func bundle(_ sources: [PolicyBundle.Source]) throws -> PolicyBundle {
        let pair = try ServiceInMemory.rules(AskingVerb.rule("forbid: No.", "export"))
        return PolicyBundle(pair.judge.policy, reach: pair.reach, summary: "one", sources: sources)
    }

    private func source(_ level: Int, _ name: String) -> PolicyBundle.Source {
        PolicyBundle.Source(level: level, name: name, bytes: Array("# \(name)".utf8))
    }

    @Test func `what was kept is found again, the compiled apart from its sources`() throws {
        #expect(kept.bundle == nil && kept.folders.isEmpty)
        kept.keep(try bundle([source(1, "b.yaml"), source(0, "a.yaml")]))
        let found = try #require(kept.bundle)
        #expect(found.policy.statementCount == 1 && found.summary == "one")
        #expect(found.sources.isEmpty)
        let places = [folder("policy.sources/0"), folder("policy.sources/1")]
        #expect(kept.folders == places)
        #expect(
            try String(contentsOfFile: places[1] + "/b.yaml", encoding: .utf8) == "# b.yaml")
    }

    @Test func `its sources are for every user to read, and the compiled is not`() throws {
        kept.keep(try bundle([source(0, "a.yaml")]))
        #expect(mode(of: folder("policy.sources/0/a.yaml")).map { $0 & 0o777 } == 0o644)
        #expect(mode(of: folder("policy.sources/0")).map { $0 & 0o777 } == 0o755)
        #expect(mode(of: folder("policy.last-good")).map { $0 & 0o077 } == 0)
    }

    @Test func `others take the place of all of them`() throws {
        kept.keep(try bundle([source(0, "a.yaml"), source(1, "b.yaml")]))
        kept.keep(try bundle([source(0, "c.yaml")]))
        #expect(kept.folders == [folder("policy.sources/0")])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder("policy.sources/0"))
                == ["c.yaml"])
    }

    @Test func `what is kept already is not written again, and leftovers go all the same`() throws {
        let files = ["policy.last-good", "policy.sources/0/a.yaml"].map { folder($0) }
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        kept.keep(try bundle([source(0, "a.yaml")]))
        for file in files {
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: file)
        }
        try FileManager.default.createDirectory(
            atPath: folder("policy.sources.old"), withIntermediateDirectories: true)
        kept.keep(try bundle([source(0, "a.yaml")]))
        for file in files {
            let facts = try FileManager.default.attributesOfItem(atPath: file)
            #expect(facts[.modificationDate] as? Date == past)
        }
        #expect(!FileManager.default.fileExists(atPath: folder("policy.sources.old")))
    }

    @Test func `a part of files that an interrupted write left is not used, and goes`() throws {
        for name in ["policy.sources.new/0", "policy.sources.old/0"] {
            try FileManager.default.createDirectory(
                atPath: folder(name), withIntermediateDirectories: true)
            try Data("# part".utf8).write(to: URL(filePath: folder(name + "/part.yaml")))
        }
        #expect(kept.folders.isEmpty)
        kept.keep(try bundle([source(0, "a.yaml")]))
        #expect(folder.names == ["policy.last-good", "policy.sources"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder("policy.sources/0"))
                == ["a.yaml"])
    }

    @Test func `of files that can't be written none is kept, nor those before them`() throws {
        kept.keep(try bundle([source(0, "a.yaml"), source(1, "b.yaml")]))
        kept.keep(try bundle([source(0, "a.yaml"), source(1, "b.txt")]))
        #expect(kept.folders.isEmpty)
        #expect(folder.names == ["policy.last-good"])
    }

    @Test(arguments: [
        (0, "../evil.yaml"), (0, "a/b.yaml"), (0, "a.txt"), (2, "a.yaml"),
        (0, String(repeating: "x", count: 252) + ".yaml"),
    ])
    func `a file whose name leads elsewhere is not written, nor any with it`(
        _ level: Int, _ name: String
    ) throws {
        kept.keep(try bundle([source(0, "good.yaml"), source(level, name)]))
        #expect(kept.folders.isEmpty)
        #expect(!folder.names.contains { $0.contains("evil") })
        // The compiled policy is as good without them.
        #expect(kept.bundle != nil)
    }

    @Test func `a file that was altered or cut off is none`() throws {
        kept.keep(try bundle([]))
        let path = folder("policy.last-good")
        let bytes = try #require(FileManager.default.contents(atPath: path))
        for changed in [bytes.dropLast(), Data(bytes.dropFirst()), Data()] {
            try changed.write(to: URL(filePath: path))
            #expect(kept.bundle == nil)
        }
        try bytes.write(to: URL(filePath: path))
        #expect(kept.bundle != nil)
    }
}
