// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension PolicySet {
    /// The same, every rule and scope of which only says what it would do.
    package var permissive: PolicySet {
        var copy = self
        for place in copy.rules.indices { copy.rules[place].mode = .permissive(untilDay: .max) }
        for place in copy.closed.indices { copy.closed[place].mode = .permissive(untilDay: .max) }
        return copy
    }
}
