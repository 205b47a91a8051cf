// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension RequestLine {
    /// The facts of one block, as a JSON object: `{"service": "mail"}` for an item.
    package static func facts(
        _ text: String, _ block: PolicyBlock, today: Int32
    ) throws(Mistake) -> PolicyFacts {
        let line = "{\"operation\": \"read-secret\", \"\(block.rawValue)\": \(text)}"
        return try read(line, today: today).facts
    }
}
