// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// The texts of a subject and its environment in the numbers of one policy: made once for a
/// connection, and good for as long as the texts are the same.
public struct NumberedTexts: Sendable {
    /// Of the policy that numbered them.
    private let checksum: UInt64
    /// What was numbered.
    private let facts: PolicyFacts
    /// For each field of `TextField.ofSubject` where its numbers end.
    private let ends: [Int]
    private let numbers: [UInt32]

    init(_ facts: PolicyFacts, of policy: borrowing CompiledPolicy) {
        var words = FactWords(count: 0)
        var ends: [Int] = []
        for field in TextField.ofSubject {
            if case .known(let values) = facts[field] {
                for value in values {
                    policy.image.addFacts(matching: value, field, to: &words)
                }
            }
            ends.append(words.count)
        }
        checksum = policy.checksum
        self.facts = facts
        self.ends = ends
        numbers = (0..<words.count).map { words[$0] }
    }

    /// Whether they say of these facts what the policy would.
    public func hold(for facts: PolicyFacts, under policy: borrowing CompiledPolicy) -> Bool {
        checksum == policy.checksum && self.facts.hasTextsOfSubject(of: facts)
    }

    /// Adds those of the field that has this place in `TextField.ofSubject`.
    func add(_ place: Int, to words: inout FactWords) {
        var number = place == 0 ? 0 : ends[place - 1]
        while number < ends[place] {
            words.append(numbers[number])
            number += 1
        }
    }
}

extension CompiledPolicy {
    /// Numbers the texts of the subject and the environment.
    public func number(_ facts: PolicyFacts) -> NumberedTexts { NumberedTexts(facts, of: self) }
}
