// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

extension PolicySet {
    /// The set in force where there are policies, but none can be used, and none ever could: keys
    /// and rights stay as they are, a program has the items of its own groups alone, and a secret
    /// or a keychain needs the password (docs/design/policy-engine.md).
    public static let whenBroken: PolicySet = {
        let origin = PolicyOrigin(file: "built in", line: 1, column: 1, level: 0)
        let unusable = PolicyEffect.forbid("The machine's policies cannot be used.")
        func rule(_ id: PolicyText, _ effect: PolicyEffect, _ box: PolicyBox) -> PolicyRule {
            PolicyRule(id: id, origin: origin, effect: effect, match: PolicyMatch(box))
        }
        return PolicySet(rules: [
            rule(
                "built-in.no-export", unusable,
                PolicyBox(operations: [
                    PolicyOperations(.export), PolicyOperations(.changeACL),
                    PolicyOperations(.move),
                    PolicyOperations(.unlock),
                ])),
            rule("built-in.own-groups", unusable, PolicyBox([.boolean(.member, false)])),
            rule(
                "built-in.password", .require(PolicyDemand(.factor(.passcode))),
                PolicyBox(operations: PolicyOperations(.readSecret))),
        ])
    }()
}
