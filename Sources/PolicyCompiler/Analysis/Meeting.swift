// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

extension PolicyBox {
    /// False only where no request can be in both.
    func mayMeet(_ other: PolicyBox) -> Bool {
        guard !operations.isDisjoint(with: other.operations) else { return false }
        return conditions.allSatisfy { own in
            other.conditions.allSatisfy { own.mayMeet($0) }
        }
    }
}

extension PolicyCondition {
    func mayMeet(_ other: PolicyCondition) -> Bool {
        switch (self, other) {
        case (.choice(let a, let own), .choice(let b, let its)): a != b || own & its != 0
        case (.boolean(let a, let own), .boolean(let b, let its)): a != b || own == its
        case (.uid(let own), .uid(let its)):
            own.contains { range in its.contains { $0.overlaps(range) } }
        case (.text(let a, let own), .text(let b, let its)):
            a != b || a == .group
                || own.contains { pattern in its.contains { pattern.mayMeet($0) } }
        default: true
        }
    }
}

extension TextPattern {
    func mayMeet(_ other: TextPattern) -> Bool {
        switch (self, other) {
        case (.literal(let text), _): other.matches(text)
        case (_, .literal(let text)): matches(text)
        case (.prefix(let a), .prefix(let b)):
            a.string.utf8.starts(with: b.string.utf8) || b.string.utf8.starts(with: a.string.utf8)
        default: true
        }
    }
}
