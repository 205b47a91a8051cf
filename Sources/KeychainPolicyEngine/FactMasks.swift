// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// The fields that fit two words, so that most candidates are refused without a further look.
///
/// `choices` has a run of bits each for operation, class and session, and an unused bit above each
/// run. A request sets the bits of its values, a rule those it takes; each run must have one in
/// common. The last bit of a run is set in every request: a rule without a condition takes it.
/// `needs` has two bits for a boolean (may be false, may be true) and two for an item flag (may be
/// there, may be lacking): a request sets what it can be, and a rule what it needs.
package struct FactMasks: Equatable {
    package var choices: UInt32 = 0
    package var needs: UInt32 = 0

    package init(choices: UInt32) { self.choices = choices }

    private static let classShift: UInt32 = 14
    private static let sessionShift: UInt32 = 21
    package static let anyClass: UInt32 = 1 << 19
    package static let anySession: UInt32 = 1 << 27
    private static let carry: UInt32 = 0x1FFF | 0x3F << classShift | 0x7F << sessionShift
    private static let carried: UInt32 = 1 << 13 | 1 << 20 | 1 << 28
    private static let booleans: [BooleanField] = [
        .trustedExe, .tty, .member, .remote, .active, .screenLocked, .unlocked, .passcodeSet,
    ]
    private static let hasShift: UInt32 = 16
    private static let lacksShift: UInt32 = 24

    /// Whether a request that is this may match a rule that asks for `rule`. Adding all ones
    /// to a run carries into the bit above it unless the run is empty.
    @inline(__always)
    package func meets(choices ruleChoices: UInt32, needs ruleNeeds: UInt32) -> Bool {
        let common = choices & ruleChoices
        return (common &+ Self.carry) & Self.carried == Self.carried
            && needs & ruleNeeds == ruleNeeds
    }

    package static func place(of field: BooleanField) -> UInt32? {
        booleans.firstIndex(of: field).map { UInt32($0) * 2 }
    }

    package static func run(of field: ChoiceField) -> (shift: UInt32, any: UInt32)? {
        switch field {
        case .itemClass: (classShift, anyClass)
        case .session: (sessionShift, anySession)
        case .accessible, .protector: nil
        }
    }

    package static func bits(has: PolicyItemFlags, lacks: PolicyItemFlags) -> UInt32 {
        UInt32(has.rawValue) << hasShift | UInt32(lacks.rawValue) << lacksShift
    }
}

extension FactMasks {
    /// What the facts are; unknown ones can be anything (`unknownHolds`) or nothing at all.
    package init(_ facts: PolicyFacts, unknownHolds: Bool) {
        choices = Self.anyClass | Self.anySession
        for field in [ChoiceField.itemClass, .session] {
            guard let run = Self.run(of: field) else { continue }
            switch facts[field] {
            case .known(let value) where value < field.count:
                choices |= 1 << (run.shift + UInt32(value))
            case .unknown where unknownHolds: choices |= (run.any - 1) & ~((1 << run.shift) - 1)
            case .absent, .known, .unknown: break
            }
        }
        for field in Self.booleans { set(field, facts[field], unknownHolds) }
        switch facts.flags {
        case .absent: needs |= Self.bits(has: [], lacks: Self.allFlags)
        case .known(let flags):
            needs |= Self.bits(has: flags, lacks: Self.allFlags.subtracting(flags))
        case .unknown where unknownHolds:
            needs |= Self.bits(has: Self.allFlags, lacks: Self.allFlags)
        case .unknown: break
        }
    }

    private static let allFlags = PolicyItemFlags(rawValue: .max)

    package mutating func set(_ field: BooleanField, _ fact: Fact<Bool>, _ unknownHolds: Bool) {
        guard let place = Self.place(of: field) else { return }
        needs &= ~(3 << place)
        switch fact {
        case .absent: needs |= (field.whenAbsent ? 2 : 1) << place
        case .known(let value): needs |= (value ? 2 : 1) << place
        case .unknown: needs |= (unknownHolds ? 3 : 0) << place
        }
    }
}
