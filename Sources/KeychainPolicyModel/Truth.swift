// SPDX-License-Identifier: Apache-2.0

/// Kleene's three values: a fact that could not be established makes neither true nor false.
public enum Truth: Int, Sendable, Hashable, Comparable {
    case no = 0
    case unknown = 1
    case yes = 2

    package init(_ value: Bool) { self = value ? .yes : .no }

    package var negated: Truth {
        switch self {
        case .no: .yes
        case .unknown: .unknown
        case .yes: .no
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Fact {
    /// What a test of the value gives.
    package func truth(absent: Truth, _ test: (Value) -> Bool) -> Truth {
        switch self {
        case .absent: absent
        case .known(let value): Truth(test(value))
        case .unknown: .unknown
        }
    }
}

extension PolicyCondition {
    /// Whether the facts meet the condition.
    public func truth(of facts: PolicyFacts) -> Truth {
        switch self {
        case .text(let field, let patterns):
            facts[field].truth(absent: .no) { values in
                values.contains { value in patterns.contains { $0.matches(value) } }
            }
        case .uid(let ranges):
            facts.uid.truth(absent: .no) { uid in ranges.contains { $0.contains(uid) } }
        case .choice(let field, let mask):
            facts[field].truth(absent: .no) {
                $0 < field.count && mask & (1 << $0) != 0
            }
        case .boolean(let field, let wanted):
            facts[field].truth(absent: Truth(field.whenAbsent == wanted)) { $0 == wanted }
        case .flags([], []): .yes
        case .flags(let has, let lacks):
            facts.flags.truth(absent: Truth(has.isEmpty)) {
                $0.isSuperset(of: has) && $0.isDisjoint(with: lacks)
            }
        case .age(let field, let range):
            facts[field].truth(absent: .unknown) { range.contains($0) }
        case .time(let windows, let outside):
            facts.time.truth(absent: .unknown) { minute in
                windows.contains { $0.contains(minute) } != outside
            }
        }
    }
}

extension PolicyBox {
    public func truth(for operation: PolicyOperation, _ facts: PolicyFacts) -> Truth {
        let fields = conditions.lazy.map { $0.truth(of: facts) }.min() ?? .yes
        return min(Truth(operations.contains(operation)), fields)
    }
}

extension PolicyMatch {
    public func truth(for operation: PolicyOperation, _ facts: PolicyFacts) -> Truth {
        let exception = exceptions.map { $0.truth(for: operation, facts) }.max() ?? .no
        return min(box.truth(for: operation, facts), exception.negated)
    }
}
