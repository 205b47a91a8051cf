// SPDX-License-Identifier: Apache-2.0

/// The conditions for an item in the form that programs and people give them, before they become an
/// access control (docs/secitem.md, SecAccessControl). The values are Apple's.
public struct AccessControlFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let userPresence = Self(rawValue: 1 << 0)
    public static let biometryAny = Self(rawValue: 1 << 1)
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    public static let devicePasscode = Self(rawValue: 1 << 4)
    public static let companion = Self(rawValue: 1 << 5)
    public static let or = Self(rawValue: 1 << 14)
    public static let and = Self(rawValue: 1 << 15)
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    public static let applicationPassword = Self(rawValue: 1 << 31)

    /// The access control that the flags mean; nil where they contradict each other.
    public func accessControl(protecting protection: Accessibility) -> ItemAccessControl? {
        guard isLegal else { return nil }
        return ItemAccessControl(
            protection: protection, operations: operations,
            defaultOperation: asksForNothing ? .always : nil,
            needsApplicationPassword: contains(.applicationPassword))
    }

    private var isLegal: Bool {
        if isSuperset(of: [.or, .and]) { return false }
        if isSuperset(of: [.biometryAny, .biometryCurrentSet]) { return false }
        // Even unknown bits are refused beside user presence.
        let besidePresence: Self = [.userPresence, .applicationPassword, .privateKeyUsage]
        return !contains(.userPresence) || isSubset(of: besidePresence)
    }

    private var asksForNothing: Bool { members.isEmpty && !contains(.privateKeyUsage) }

    /// Unknown bits are ignored.
    private var members: [Constraint] {
        Self.constraints.filter { contains($0.flag) }.map(\.constraint)
    }

    private static let constraints: [(flag: Self, constraint: Constraint)] = [
        (.userPresence, .userPresence),
        (.devicePasscode, .devicePasscode),
        (.biometryAny, .biometryAny),
        (.biometryCurrentSet, .biometryCurrentSet),
        (.companion, .companion),
    ]

    /// All members together; one of them suffices only where the flags say "or".
    private var combined: Constraint {
        let members = members
        switch members.count {
        case 0: return .always
        case 1: return members[0]
        default: return .atLeast(required: contains(.or) ? 1 : members.count, of: members)
        }
    }

    private var operations: [ItemOperation: Constraint] {
        if asksForNothing { return [:] }
        let combined = combined
        if contains(.privateKeyUsage) {
            return [
                .sign: combined, .computeKey: combined, .decapsulate: combined,
                .attest: .always, .delete: .always,
            ]
        }
        return [.decrypt: combined, .encrypt: .always, .delete: .always]
    }
}
