// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension PolicySet {
    /// The same set with every rule and scope permissive.
    package var permissive: PolicySet {
        var copy = self
        for place in copy.rules.indices { copy.rules[place].mode = .permissive(untilDay: .max) }
        for place in copy.closed.indices { copy.closed[place].mode = .permissive(untilDay: .max) }
        return copy
    }
}
