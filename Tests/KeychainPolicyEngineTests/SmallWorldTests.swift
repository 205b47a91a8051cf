// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyGenerators
import KeychainPolicyModel
import Testing

/// Every policy of up to three statements of an alphabet against every request of a small world.
@Suite struct `Small worlds` {
    private static let alphabet: [PolicyRule] = [
        rule("a", .forbid(""), .all, literal(.exe, "x")),
        rule(
            "b", .forbid(""), PolicyOperations(.export), unless: [PolicyBox([literal(.group, "x")])]
        ),
        rule("c", .permit(""), .all, literal(.exe, "x", "y")),
        rule("d", .permit(""), .all, .boolean(.remote, false), literal(.group, "y")),
        rule("e", .share(""), .read, .text(.exe, [.prefix("")])),
        rule("f", need(.passcode), .all, .boolean(.remote, true)),
        rule("g", need(.confirm), .all, literal(.group, "x"), literal(.exe, "y")),
        rule("h", .redact(["label"]), .all, .choice(.itemClass, mask: 0b100)),
        rule(
            "i", .forbid(""), .all, .boolean(.remote, true), mode: .permissive(untilDay: today + 1)),
    ]
    private static let scopes = [
        scope("s", literal(.exe, "y")), scope("t", .boolean(.remote, true)),
    ]

    private static let requests: [PolicyRequest] = {
        let texts: [Fact<[PolicyText]>] = [.absent, .unknown, .known(["x"]), .known(["y"])]
        let booleans: [Fact<Bool>] = [.known(false), .known(true), .unknown]
        let classes: [Fact<UInt8>] = [.absent, .unknown, .known(2)]
        return texts.flatMap { exe in
            texts.flatMap { group in
                booleans.flatMap { remote in
                    classes.map { itemClass in
                        request(.readSecret) {
                            $0[.exe] = exe
                            $0[.group] = group
                            $0[.remote] = remote
                            $0[.itemClass] = itemClass
                            $0[.member] = remote
                        }
                    }
                }
            }
        }
    }()

    @Test func `are decided alike to the last case`() throws {
        let count = Self.alphabet.count + Self.scopes.count
        var decisions = 0
        for chosen in 0..<1 << count where chosen.nonzeroBitCount <= 3 {
            let policy = PolicySet(
                rules: Self.alphabet.indices.filter { chosen & 1 << $0 != 0 }
                    .map { Self.alphabet[$0] },
                closed: Self.scopes.indices
                    .filter { chosen & 1 << ($0 + Self.alphabet.count) != 0 }
                    .map { Self.scopes[$0] })
            let compiled = try CompiledPolicy(policy)
            let reference = ReferenceEvaluator(policy)
            for request in Self.requests {
                let expected = reference.decide(request)
                let difference = Comparison.mismatch(compiled, expected, request)
                if difference != nil { Issue.record("\(policy) \(request)") }
                decisions += 1
            }
        }
        #expect(decisions == 232 * 144)
    }
}
