// SPDX-License-Identifier: Apache-2.0

/// The proof that an operation on an item needs (docs/secitem.md, Resulting object).
public indirect enum Constraint: Sendable, Hashable {
    /// No proof is needed.
    case always
    /// No proof meets it.
    case never
    case userPresence
    case devicePasscode
    case biometryAny
    case biometryCurrentSet
    case companion
    /// At least `required` of the members.
    case atLeast(required: Int, of: [Constraint])

    /// The deepest nesting of constraints from any source.
    public static let largestDepth = 8
    /// The most members of a group.
    public static let mostMembers = 16

    fileprivate var namesCurrentSet: Bool {
        switch self {
        case .biometryCurrentSet: true
        case .atLeast(_, let members): members.contains(where: \.namesCurrentSet)
        default: false
        }
    }
}

extension Constraint {
    /// The code of `atLeast` in files and messages; its members follow.
    public static let groupCode: UInt8 = 7

    /// The number of the constraint in files and messages. Never renumbered.
    public var code: UInt8 {
        switch self {
        case .always: 0
        case .never: 1
        case .userPresence: 2
        case .devicePasscode: 3
        case .biometryAny: 4
        case .biometryCurrentSet: 5
        case .companion: 6
        case .atLeast: Self.groupCode
        }
    }

    private static let withoutMembers: [Constraint] = [
        .always, .never, .userPresence, .devicePasscode, .biometryAny, .biometryCurrentSet,
        .companion,
    ]

    /// The constraint without members that the number stands for.
    public init?(code: UInt8) {
        guard let found = Self.withoutMembers.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// An operation on one item, in the terms of access control lists.
public enum ItemOperation: String, Sendable, Hashable, CaseIterable {
    /// Reading an item, its attributes or its existence.
    case decrypt = "od"
    /// Writing an item.
    case encrypt = "oe"
    case delete = "odel"
    case sign = "osgn"
    case attest = "oa"
    case computeKey = "ock"
    case decapsulate = "okem"

    /// The number in keychain files and messages: ascending in the order of `allCases`, never
    /// renumbered.
    package var code: UInt8 {
        switch self {
        case .decrypt: 1
        case .encrypt: 2
        case .delete: 3
        case .sign: 4
        case .attest: 5
        case .computeKey: 6
        case .decapsulate: 7
        }
    }

    package init?(code: UInt8) {
        guard let operation = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = operation
    }
}

/// The access control of an item: its protection class, and the constraint of each operation
/// (`SecAccessControl`).
public struct ItemAccessControl: Sendable, Hashable {
    public let protection: Accessibility
    /// Whether an application password is a part of the derivation of the item's key.
    public let needsApplicationPassword: Bool
    private let demands: Demands

    /// The constraints of operations. Most items have none, which takes no memory: every step of a
    /// request passes access control on.
    private indirect enum Demands: Sendable, Hashable {
        case none
        case some(
            operations: [ItemOperation: Constraint], others: Constraint?, boundBiometry: [UInt8])
    }

    public init(
        protection: Accessibility, operations: [ItemOperation: Constraint],
        defaultOperation: Constraint?, needsApplicationPassword: Bool = false,
        boundBiometry: [UInt8] = []
    ) {
        self.protection = protection
        self.needsApplicationPassword = needsApplicationPassword
        let asksForNothing =
            operations.isEmpty && defaultOperation == .always && boundBiometry.isEmpty
        demands =
            asksForNothing
            ? .none
            : .some(
                operations: operations, others: defaultOperation, boundBiometry: boundBiometry)
    }

    /// The constraint of each named operation.
    public var operations: [ItemOperation: Constraint] {
        if case .some(let operations, _, _) = demands { operations } else { [:] }
    }

    /// The constraint of operations without an entry; nil forbids them.
    public var defaultOperation: Constraint? {
        if case .some(_, let others, _) = demands { others } else { .always }
    }

    /// The biometry that was enrolled when the item was bound to it (`biometryCurrentSet`). Only
    /// the service sets it; empty before.
    public var boundBiometry: [UInt8] {
        if case .some(_, _, let biometry) = demands { biometry } else { [] }
    }

    /// The same access control, bound to the given enrolment.
    public func bound(to biometry: [UInt8]) -> ItemAccessControl {
        ItemAccessControl(
            protection: protection, operations: operations, defaultOperation: defaultOperation,
            needsApplicationPassword: needsApplicationPassword, boundBiometry: biometry)
    }

    /// The same constraints under another protection class.
    package func protected(by protection: Accessibility) -> ItemAccessControl {
        ItemAccessControl(
            protection: protection, operations: operations, defaultOperation: defaultOperation,
            needsApplicationPassword: needsApplicationPassword, boundBiometry: boundBiometry)
    }

    /// Whether an operation needs the very biometry that was enrolled at binding.
    public var isBoundToBiometry: Bool {
        guard case .some(let operations, let others, _) = demands else { return false }
        return (others?.namesCurrentSet ?? false)
            || operations.contains { $0.value.namesCurrentSet }
    }

    /// The access control of an item that was added with only an accessibility.
    public static func plain(_ protection: Accessibility) -> ItemAccessControl {
        ItemAccessControl(protection: protection, operations: [:], defaultOperation: .always)
    }

    /// The exact entry, else the default, else never.
    public func constraint(for operation: ItemOperation) -> Constraint {
        guard case .some(let operations, let others, _) = demands else { return .always }
        return operations[operation] ?? others ?? .never
    }
}
