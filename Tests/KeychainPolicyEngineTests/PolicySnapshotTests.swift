// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainPolicyGenerators
import Testing

@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

@Suite struct `Policy snapshot` {
    private func sample(rules: Int) throws -> CompiledPolicy {
        var world = PolicyGenerator(seed: 5)
        return try CompiledPolicy(world.policy(rules: rules))
    }

    @Test func `the built-in policies are what the compiler makes of their sets`() throws {
        #expect(CompiledPolicy.empty.image == (try CompiledPolicy(PolicySet()).image))
        let builtIn = PolicyBundle.whenBroken
        #expect(builtIn.policy.image == (try CompiledPolicy(PolicySet.whenBroken).image))
        #expect(builtIn.reach.image == (try CompiledPolicy(PolicySet.whenBroken.reachOnly).image))
    }

    @Test func `is the policy again`() throws {
        let compiled = try sample(rules: 100)
        let loaded = try CompiledPolicy(snapshot: compiled.snapshot)
        #expect(loaded.image == compiled.image)
        #expect(loaded.checksum == compiled.checksum)
        #expect(loaded.snapshot == compiled.snapshot)
        let empty = try CompiledPolicy(PolicySet())
        #expect(try CompiledPolicy(snapshot: empty.snapshot).image == empty.image)
    }

    @Test func `is the same bytes for the same set in any order`() throws {
        var world = PolicyGenerator(seed: 6)
        var policy = world.policy(rules: 40)
        policy.rules = policy.rules.enumerated().map { number, rule in
            var rule = rule
            rule.id = PolicyText("r\(number)")
            return rule
        }
        let snapshot = try CompiledPolicy(policy).snapshot
        policy.rules.reverse()
        #expect(try CompiledPolicy(policy).snapshot == snapshot)
    }

    @Test func `is refused wherever it is cut`() throws {
        let snapshot = try sample(rules: 6).snapshot
        for length in 0..<snapshot.count {
            #expect(throws: PolicySnapshotError.self) {
                try CompiledPolicy(snapshot: Array(snapshot[..<length]))
            }
        }
        #expect(throws: PolicySnapshotError.wrongLength) {
            try CompiledPolicy(snapshot: snapshot + [0, 0, 0, 0])
        }
        #expect(throws: PolicySnapshotError.wrongLength) {
            try CompiledPolicy(snapshot: snapshot + [0])
        }
    }

    @Test func `is refused wherever a byte is altered`() throws {
        let snapshot = try sample(rules: 6).snapshot
        for place in snapshot.indices {
            var altered = snapshot
            altered[place] ^= 1 << UInt8(place % 8)
            #expect(throws: PolicySnapshotError.self) { try CompiledPolicy(snapshot: altered) }
        }
    }

    @Test func `is refused when another version wrote it`() throws {
        var snapshot = try sample(rules: 3).snapshot
        snapshot[8] = 99
        #expect(throws: PolicySnapshotError.otherVersion(99)) {
            try CompiledPolicy(snapshot: snapshot)
        }
        #expect(throws: PolicySnapshotError.notASnapshot) {
            try CompiledPolicy(snapshot: Array("policy: v1".utf8))
        }
    }

    /// Words are changed and the checksum made to fit: it is refused, or it decides something.
    @Test func `never traps, whatever is in it`() throws {
        var world = PolicyGenerator(seed: 7, fields: [.exe, .service])
        let policy = world.policy(rules: 60)
        let requests = (0..<3).map { _ in world.request(for: policy) }
        let image = try CompiledPolicy(policy).image
        var refused = 0
        let rounds = 1_500
        for _ in 0..<rounds {
            var words = image.words
            for _ in 0..<1 + world.random.below(3) {
                let place = world.random.below(words.count)
                words[place] = world.random.pick([
                    0, 1, words[place] &+ 1, words[place] ^ 1 << UInt32(world.random.below(32)),
                    .max, UInt32(words.count),
                ])
            }
            guard let loaded = try? CompiledPolicy(snapshot: forged(words)) else {
                refused += 1
                continue
            }
            for request in requests {
                _ = loaded.decide(loaded.admit(request))
                _ = loaded.decision(on: request)
                _ = loaded.limits(on: loaded.admit(request))
            }
        }
        #expect(refused > rounds / 4)
        #expect(refused < rounds)
    }

    private func forged(_ words: [UInt32]) -> [UInt8] {
        var words = words
        let sum = PolicyImage.checksum(words)
        words[4] = UInt32(truncatingIfNeeded: sum)
        words[5] = UInt32(truncatingIfNeeded: sum >> 32)
        return CompiledPolicy.bytes(of: words)
    }
}
