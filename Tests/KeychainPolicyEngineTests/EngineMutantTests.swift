// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainPolicyGenerators
import Testing

@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

/// A defect of the compiled form, applied wherever it can be.
struct EngineMutant: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let section: PolicyImage.Section
    let change: @Sendable (inout [UInt32], Int) -> Void

    init(
        _ name: String, _ section: PolicyImage.Section,
        _ change: @escaping @Sendable (inout [UInt32], Int) -> Void
    ) {
        testDescription = name
        self.section = section
        self.change = change
    }

    func applied(to image: PolicyImage) -> PolicyImage {
        var words = image.words
        for record in 0..<image.count(section) {
            change(&words, image.start(section) + record * section.stride)
        }
        return PolicyImage(words: words)
    }

    static var all: [EngineMutant] {
        [
            EngineMutant("conditions beyond the entry are not read", .entries) {
                $0[$1] &= ~EntryHead.hasMore
            },
            EngineMutant("probes are not looked for", .entries) { $0[$1 + 3] = 0 },
            EngineMutant("operation, class and session are not compared", .entries) {
                $0[$1 + 1] = 0x1FF_FFFF
            },
            EngineMutant("booleans and flags are not compared", .entries) { $0[$1 + 2] = 0 },
            EngineMutant("complaining entries decide", .entries) {
                $0[$1] &= ~EntryHead.permissive
            },
            EngineMutant("leaves end early", .entries) { $0[$1] |= EntryHead.isLast },
            EngineMutant("remaining entries of nodes are lost", .nodes) { $0[$1 + 4] = 0 },
            EngineMutant("a dimension of nodes is lost", .nodes) {
                let words = UInt64($0[$1 + 2]) | UInt64($0[$1 + 3]) << 32
                let kept = words & (words &- 1)
                $0[$1 + 2] = UInt32(truncatingIfNeeded: kept)
                $0[$1 + 3] = UInt32(truncatingIfNeeded: kept >> 32)
            },
            EngineMutant("rules are filed under another fact", .slots) {
                if $0[$1] != 0 { $0[$1] ^= 1 }
            },
            EngineMutant("proofs may come from anywhere", .demands) { $0[$1 + 1] = 4 },
            EngineMutant("proofs may be of any age", .demands) {
                $0[$1 + 2] = .max
                $0[$1 + 3] = .max >> 1
            },
            EngineMutant("everything complaining has expired", .statements) { $0[$1 + 2] = 0 },
            EngineMutant("other attributes are left out", .redactions) { $0[$1] ^= 1 },
            EngineMutant("numbers are cut a little later", .breakpoints) { $0[$1] &+= 1 },
        ]
    }
}

@Suite struct `Mutants of the engine` {
    @Test(arguments: EngineMutant.all) func `are caught`(_ mutant: EngineMutant) throws {
        #expect(try isCaught { CompiledPolicy(mutant.applied(to: $0.image)) })
    }

    @Test func `are not seen where there are none`() throws {
        #expect(try !isCaught { $0 })
    }

    /// Whether some random decision differs from the reference.
    private func isCaught(_ mutate: (CompiledPolicy) -> CompiledPolicy) throws -> Bool {
        for round in 0..<120 {
            var world = PolicyGenerator(
                seed: 80_000 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 40)
            let mutant = mutate(try CompiledPolicy(policy))
            let reference = ReferenceEvaluator(policy)
            for _ in 0..<16 {
                let request = world.request(for: policy)
                let expected = reference.decide(request)
                if Comparison.mismatch(mutant, expected, request) != nil { return true }
            }
        }
        return false
    }
}
