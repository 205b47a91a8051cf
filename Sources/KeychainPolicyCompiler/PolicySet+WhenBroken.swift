// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

extension PolicySet {
    /// What counts where there are policies, none of them can be used, and none ever was: keys stay,
    /// rights stay, and a secret or a keychain takes the password (docs/design/policy-engine.md).
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
