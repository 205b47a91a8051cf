// SPDX-License-Identifier: Apache-2.0
public import KeychainModel

/// One kind of proof. The raw value is the written word.
public enum PolicyFactor: String, Sendable, Hashable, CaseIterable {
    case presence
    case passcode
    case biometry
    case biometryCurrentSet = "biometry-current-set"
    case confirm
    case companion
    case appPassword = "app-password"
    /// The password that opened the keychain at the login. It can't be asked for, and it stands for
    /// no other factor, since every program of the login has it.
    case login
}

/// The proofs that are needed: `require:` of a rule, `resource.constraint` of a request.
public indirect enum PolicyConstraint: Sendable, Hashable {
    case factor(PolicyFactor)
    /// Success of a PAM service, with its own freshness where it names one.
    case pam(PolicyText, within: PolicyDuration?)
    case any([PolicyConstraint])
    case all([PolicyConstraint])
    /// `{k:, of:}`; each child that is met counts, equal ones too.
    case atLeast(Int, of: [PolicyConstraint])

    /// The canonical form, which the engine returns: equal needs have equal forms.
    public var canonical: PolicyConstraint {
        switch self {
        case .factor, .pam: return self
        case .atLeast(let count, let children):
            return .atLeast(count, of: Self.sorted(children.map(\.canonical)))
        case .any(let children):
            let merged = children.map(\.canonical).flatMap { child -> [PolicyConstraint] in
                if case .any(let inner) = child { inner } else { [child] }
            }
            return Self.unwrapped(merged) ?? .any(Self.unique(merged))
        case .all(let children):
            let merged = children.map(\.canonical).flatMap { child -> [PolicyConstraint] in
                if case .all(let inner) = child { inner } else { [child] }
            }
            return Self.unwrapped(merged) ?? .all(Self.unique(merged))
        }
    }

    private static func unwrapped(_ children: [PolicyConstraint]) -> PolicyConstraint? {
        let distinct = unique(children)
        return distinct.count == 1 ? distinct.first : nil
    }

    private static func sorted(_ children: [PolicyConstraint]) -> [PolicyConstraint] {
        children.map { (key: PolicyText($0.json), value: $0) }
            .sorted { $0.key < $1.key }.map(\.value)
    }

    private static func unique(_ children: [PolicyConstraint]) -> [PolicyConstraint] {
        sorted(children).reduce(into: []) { kept, child in
            if kept.last != child { kept.append(child) }
        }
    }

    /// Compact JSON with sorted keys.
    public var json: String {
        switch self {
        case .factor(let factor): Self.quoted(factor.rawValue)
        case .pam(let service, let within):
            (service.approver == nil ? "{\"pam\":" : "{\"approval\":")
                + Self.quoted((service.approver ?? service).string)
                + (within.map { ",\"within\":\"\($0)\"" } ?? "") + "}"
        case .any(let children): "{\"any\":" + Self.list(children) + "}"
        case .all(let children): "{\"all\":" + Self.list(children) + "}"
        case .atLeast(let count, let children):
            "{\"k\":\(count),\"of\":" + Self.list(children) + "}"
        }
    }

    private static func list(_ children: [PolicyConstraint]) -> String {
        "[" + children.map(\.json).joined(separator: ",") + "]"
    }

    private static func quoted(_ text: String) -> String { JSONText(text).description }
}

/// The constraint of an item's own access control, as a request states it.
public enum PolicyItemConstraint: Sendable, Hashable {
    case none
    case never
    case needs(PolicyConstraint)

    /// The same constraint in the words of policies.
    public init(_ constraint: Constraint) {
        switch constraint.canonical {
        case .always: self = .none
        case .never: self = .never
        case let other: self = PolicyConstraint(other).map { .needs($0) } ?? .never
        }
    }
}

extension PolicyConstraint {
    /// nil when a part of it is `always` or `never`, for which policies have no word.
    fileprivate init?(_ constraint: Constraint) {
        switch constraint {
        case .always, .never: return nil
        case .userPresence: self = .factor(.presence)
        case .devicePasscode: self = .factor(.passcode)
        case .biometryAny: self = .factor(.biometry)
        case .biometryCurrentSet: self = .factor(.biometryCurrentSet)
        case .companion: self = .factor(.companion)
        case .atLeast(let required, let members):
            let children = members.compactMap(PolicyConstraint.init)
            guard children.count == members.count else { return nil }
            switch required {
            case children.count: self = .all(children)
            case 1: self = .any(children)
            default: self = .atLeast(required, of: children)
            }
        }
    }
}

extension Constraint {
    /// The canonical form: equal needs have equal forms. Only the whole is ever `always` or
    /// `never`.
    package var canonical: Constraint {
        guard case .atLeast(let required, let members) = self else { return self }
        let children = members.map(\.canonical)
        if required <= 0 { return .always }
        if required > children.count { return .never }
        if required == children.count { return Self.conjunction(children) }
        if required == 1 { return Self.disjunction(children) }
        return .atLeast(required: required, of: children.sorted(by: Self.precedes))
    }

    private static func conjunction(_ children: [Constraint]) -> Constraint {
        var members: Set<Constraint> = []
        for child in children {
            if case .atLeast(let required, let inner) = child, required == inner.count {
                members.formUnion(inner)
            } else {
                members.insert(child)
            }
        }
        members.remove(.always)
        if members.contains(.never) { return .never }
        return unwrapped(members, required: members.count) ?? .always
    }

    private static func disjunction(_ children: [Constraint]) -> Constraint {
        var members: Set<Constraint> = []
        for child in children {
            if case .atLeast(1, let inner) = child {
                members.formUnion(inner)
            } else {
                members.insert(child)
            }
        }
        members.remove(.never)
        if members.contains(.always) { return .always }
        return unwrapped(members, required: 1) ?? .never
    }

    private static func unwrapped(_ members: Set<Constraint>, required: Int) -> Constraint? {
        if members.count <= 1 { return members.first }
        return .atLeast(required: required, of: members.sorted(by: precedes))
    }

    private static func precedes(_ a: Constraint, _ b: Constraint) -> Bool {
        sortKey(a).lexicographicallyPrecedes(sortKey(b))
    }

    private static func sortKey(_ constraint: Constraint) -> [Int] {
        guard case .atLeast(let required, let members) = constraint else {
            return [Int(constraint.code)]
        }
        return [Int(constraint.code), members.count, required] + members.flatMap(sortKey)
    }
}

/// A length of time as policies write it: `500ms`, `15m`, `12h`, `90d`.
public struct PolicyDuration: Sendable, Hashable, Comparable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
    public static let zero = Self(milliseconds: 0)
    public static func minutes(_ count: Int64) -> Self { Self(milliseconds: count * 60_000) }
    public static func hours(_ count: Int64) -> Self { Self(milliseconds: count * 3_600_000) }

    public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

    private static let units: [(name: String, length: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads digits and a unit; nil for any other text, and for a time too long to count.
    public init?(_ written: String) {
        let digits = written.utf8.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let unit = written.dropFirst(digits.count)
        guard let count = Int64(String(Substring(digits))),
            let length = Self.units.first(where: { $0.name == unit })?.length
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: length)
        guard !overflow else { return nil }
        milliseconds = product
    }
}

extension PolicyDuration: CustomStringConvertible {
    /// The time in the largest unit that divides it.
    public var description: String {
        if milliseconds == 0 { return "0s" }
        for unit in Self.units where milliseconds % unit.length == 0 {
            return "\(milliseconds / unit.length)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }
}

extension PolicyDuration {
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1000)
        self.init(
            milliseconds: whole.overflow
                ? .max : whole.partialValue + attoseconds / 1_000_000_000_000_000)
    }
}
