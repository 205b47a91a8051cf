// SPDX-License-Identifier: Apache-2.0
// The requests that a rule matches are a box minus boxes: a conjunction of conditions on fields,
// and exceptions of the same shape. The values in one condition are alternatives.

/// A condition on one field. The same field may occur in several conditions of a box, as when a
/// definition and the rule that uses it both name it: all must hold.
public enum PolicyCondition: Sendable, Hashable {
    /// A value of the field matches one of the patterns.
    case text(TextField, [TextPattern])
    case uid([ClosedRange<UInt32>])
    /// The field's value is in the mask: bit n stands for the n-th of `ChoiceField.words`.
    case choice(ChoiceField, mask: UInt8)
    case boolean(BooleanField, Bool)
    /// The item has all of the first flags and none of the second.
    case flags(has: PolicyItemFlags, lacks: PolicyItemFlags)
    /// The age is within the range, ends included.
    case age(AgeField, ClosedRange<PolicyDuration>)
    /// The time is within one of the windows; with `outside`, within none of them.
    case time([WeekWindow], outside: Bool)
    /// The date is on one of the days, counted from 1970-01-01, ends included; `.min` and `.max`
    /// stand for no bound.
    case date(ClosedRange<Int32>)

    public var fieldName: String {
        switch self {
        case .text(let field, _): Self.path(field)
        case .uid: "subject.uid"
        case .choice(let field, _): Self.path(field)
        case .boolean(let field, _): Self.path(field)
        case .flags: "resource.flags"
        case .age(let field, _): Self.path(field)
        case .time: "when.time"
        case .date: "when.date"
        }
    }

    package var isSubject: Bool { fieldName.hasPrefix("subject.") }
    package var isResource: Bool { fieldName.hasPrefix("resource.") }

    package func isText(_ field: TextField) -> Bool {
        if case .text(field, _) = self { true } else { false }
    }

    /// Whether programs can't take the label at will. Any program may have itself confined by an
    /// AppArmor profile, and so take the profile's name; SELinux' own policy decides which programs
    /// enter a domain.
    package var isGuardedLabel: Bool {
        isText(.label) && patterns.allSatisfy { "\($0)".hasPrefix("selinux:") }
    }

    package var patterns: [TextPattern] {
        if case .text(_, let patterns) = self { patterns } else { [] }
    }

    private static func path(_ field: some PolicyField) -> String {
        field.block.rawValue + "." + field.name
    }
}

/// How conditions name a program.
package enum ProgramNaming: Sendable, Hashable {
    /// The condition names no program.
    case none
    /// The condition names the program by a property that another program of the same user can
    /// take: it can have the named program load its code, or trace it.
    case weak
    /// The condition also names a property that no other program of the user can take.
    case strong
}

extension [PolicyCondition] {
    /// The strongest naming of a program. Conditions on users don't count; and a program that runs
    /// as root can get around all of them.
    package var programNaming: ProgramNaming {
        let isStrong = contains { condition in
            switch condition {
            case .text(.label, _): condition.isGuardedLabel
            case .text(let field, _): [.unit, .slice, .app].contains(field)
            case .uid(let ranges): ranges == [0...0]
            default: false
            }
        }
        if isStrong || contains(.text(.user, [.literal("root")])) { return .strong }
        let isWeak = contains { condition in
            switch condition {
            case .text(let field, _): [.exe, .digest, .userUnit, .label].contains(field)
            case .boolean(let field, let wanted): wanted && [.trustedExe, .tty].contains(field)
            default: false
            }
        }
        return isWeak ? .weak : .none
    }
}

/// Operations and conditions, all of which must hold.
public struct PolicyBox: Sendable, Hashable {
    public var operations: PolicyOperations
    public var conditions: [PolicyCondition]

    public init(operations: PolicyOperations = .all, _ conditions: [PolicyCondition] = []) {
        self.operations = operations
        self.conditions = conditions
    }
}

/// A box minus boxes.
public struct PolicyMatch: Sendable, Hashable {
    public var box: PolicyBox
    public var exceptions: [PolicyBox]

    public init(_ box: PolicyBox, unless exceptions: [PolicyBox] = []) {
        self.box = box
        self.exceptions = exceptions
    }
}
