// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension PolicyDecision {
    /// One line of JSON with the keys in this order: `decision`, `because`, `requires`, `audit`,
    /// `redacted`, `would`.
    package var json: String {
        let requires = requires?.json ?? "null"
        let wouldDecide = wouldDecide.map { JSONText($0.rawValue).description } ?? "null"
        return
            "{\"decision\": \(JSONText(outcome.rawValue)), \"because\": \(JSONText.list(because))"
            + ", \"requires\": \(requires), \"audit\": \(JSONText(audit.word))"
            + ", \"redacted\": \(JSONText.list(redacted)), \"would\": \(wouldDecide)}"
    }
}
