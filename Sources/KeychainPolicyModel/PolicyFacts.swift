// SPDX-License-Identifier: Apache-2.0

/// Every fact about the subject, the item and the environment; absent unless set:
/// `facts[.exe] = .known(["/usr/bin/git"])`, `facts[.group] = .unknown`.
///
/// A request copies and changes them several times: all but the texts lie in the value itself.
public struct PolicyFacts: Sendable, Hashable {
    /// By field; empty as long as all are absent.
    private var texts: [Fact<[PolicyText]>] = []
    private var choices = FactDigits(bitsEach: 16)
    private var booleans = FactDigits(bitsEach: 2)
    private var sessionAge: Fact<PolicyDuration> = .absent
    private var presenceAge: Fact<PolicyDuration> = .absent
    public var uid: Fact<UInt32> = .absent
    /// Absent: none of them.
    public var flags: Fact<PolicyItemFlags> = .absent
    public var time: Fact<MinuteOfWeek> = .absent
    /// What the item's own access control asks for before the operation.
    public var constraint: PolicyItemConstraint = .none
    /// Something else than a group or a share lets the subject know of the item: the item's own
    /// list of programs. No rule sees it, and none but `share` is made needless by it.
    public var isLetIn = false

    public init() {}

    /// One value, but for `group`. Known and empty is as good as absent.
    public subscript(field: TextField) -> Fact<[PolicyText]> {
        get { texts.isEmpty ? .absent : texts[Int(field.rawValue)] }
        set {
            if texts.isEmpty {
                if newValue == .absent { return }
                texts = [Fact<[PolicyText]>](repeating: .absent, count: TextField.allCases.count)
            }
            texts[Int(field.rawValue)] = newValue
            // Facts that are alike compare as such.
            if newValue == .absent, texts.allSatisfy({ $0 == .absent }) { texts = [] }
        }
    }

    public subscript(field: ChoiceField) -> Fact<UInt8> {
        get { choices[field.rawValue].map { UInt8(truncatingIfNeeded: $0) } }
        set { choices[field.rawValue] = newValue.map { UInt64($0) } }
    }

    public subscript(field: BooleanField) -> Fact<Bool> {
        get { booleans[field.rawValue].map { $0 == 1 } }
        set { booleans[field.rawValue] = newValue.map { $0 ? 1 : 0 } }
    }

    public subscript(field: AgeField) -> Fact<PolicyDuration> {
        get { field == .session ? sessionAge : presenceAge }
        set {
            switch field {
            case .session: sessionAge = newValue
            case .presence: presenceAge = newValue
            }
        }
    }

    /// Whether the texts of the subject and the environment are the same in both.
    package func hasTextsOfSubject(of other: PolicyFacts) -> Bool {
        TextField.ofSubject.allSatisfy { self[$0] == other[$0] }
    }

    /// The same subject and environment with another item. Membership goes with the item's group,
    /// so the item's own word on it counts where there is one.
    public func with(item: PolicyFacts) -> PolicyFacts {
        var mixed = self
        if item[.member] != .absent { mixed[.member] = item[.member] }
        for field in TextField.allCases where field.block == .resource {
            mixed[field] = item[field]
        }
        for field in ChoiceField.allCases where field.block == .resource {
            mixed[field] = item[field]
        }
        mixed.flags = item.flags
        mixed.constraint = item.constraint
        mixed.isLetIn = item.isLetIn
        return mixed
    }
}

/// Facts with few values in one number, so many bits each: 0 is absent, 1 unknown, and a value of v
/// is v + 2.
private struct FactDigits: Sendable, Hashable {
    private let bitsEach: UInt64
    private var digits: UInt64 = 0

    init(bitsEach: UInt64) { self.bitsEach = bitsEach }

    subscript(place: UInt8) -> Fact<UInt64> {
        get {
            let digit = digits >> (UInt64(place) * bitsEach) & (1 << bitsEach - 1)
            return switch digit {
            case 0: .absent
            case 1: .unknown
            default: .known(digit - 2)
            }
        }
        set {
            let shift = UInt64(place) * bitsEach
            let digit: UInt64 =
                switch newValue {
                case .absent: 0
                case .unknown: 1
                case .known(let value): value + 2
                }
            digits = digits & ~((1 << bitsEach - 1) << shift) | digit << shift
        }
    }
}

extension Fact {
    fileprivate func map<Other>(_ change: (Value) -> Other) -> Fact<Other> {
        switch self {
        case .absent: .absent
        case .unknown: .unknown
        case .known(let value): .known(change(value))
        }
    }
}
