// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// The dimensions in which facts are numbered, and a fact's number: its dimension and, from 1, its
/// place there. What no rule mentions has no number, so matching is comparing integers.
package enum Dimension {
    // Written out, since a decision reads them: text fields come first, from 0.
    package static let uid = 19
    package static let time = 20
    package static let operation = 21
    package static let firstChoice = 22
    package static let firstBoolean = 26
    package static let firstAge = 36
    package static let count = 38

    /// Bits of a fact's number below its dimension.
    package static let shift: UInt32 = 26
    package static let mostFacts = UInt32(1) << shift - 1

    package static func of(_ field: TextField) -> Int { Int(field.rawValue) }
    package static func of(_ field: ChoiceField) -> Int { firstChoice + Int(field.rawValue) }
    package static func of(_ field: BooleanField) -> Int { firstBoolean + Int(field.rawValue) }
    package static func of(_ field: AgeField) -> Int { firstAge + Int(field.rawValue) }

    package static func fact(_ dimension: Int, _ place: UInt32) -> UInt32 {
        UInt32(dimension) << shift | place
    }
    package static func fact(_ field: BooleanField, _ value: Bool) -> UInt32 {
        fact(of(field), value ? 2 : 1)
    }
    package static func fact(_ field: ChoiceField, _ value: UInt8) -> UInt32 {
        fact(of(field), UInt32(value) + 1)
    }
    package static func fact(_ operation: PolicyOperation) -> UInt32 {
        fact(Self.operation, UInt32(operation.index) + 1)
    }
    package static func of(fact: UInt32) -> Int { Int(fact >> shift) }
}
