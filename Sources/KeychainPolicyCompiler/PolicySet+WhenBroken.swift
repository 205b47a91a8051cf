// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

extension PolicySet {
    /// The set in force where there are policies, but none can be used, and none ever could: keys
    /// and rights stay as they are, and a secret or a keychain needs the password
    /// (docs/design/policy-engine.md).
    public static let whenBroken: PolicySet = {
        let origin = PolicyOrigin(file: "built in", line: 1, column: 1, level: 0)
        func rule(_ id: PolicyText, _ effect: PolicyEffect, _ operations: PolicyOperations)
            -> PolicyRule
        {
            PolicyRule(
                id: id, origin: origin, effect: effect,
                match: PolicyMatch(PolicyBox(operations: operations)))
        }
        return PolicySet(rules: [
            rule(
                "built-in.no-export", .forbid("The machine's policies cannot be used."),
                [
                    PolicyOperations(.export), PolicyOperations(.changeACL),
                    PolicyOperations(.move),
                    PolicyOperations(.unlock),
                ]),
            rule(
                "built-in.password", .require(PolicyDemand(.factor(.passcode))),
                PolicyOperations(.readSecret)),
        ])
    }()
}
