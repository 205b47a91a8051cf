// SPDX-License-Identifier: Apache-2.0
// Requirements as words: a head (kind, and a number), then the parts of the requirement; children
// follow their parent.
public import KeychainPolicyModel

/// The kinds of node; the rest of the head is a factor, a PAM service or a number of children.
package enum TreeKind: UInt32 {
    case factor, pam, pamWithin, any, all, atLeast
}

extension PolicyConstraint {
    /// The deepest nesting of a requirement.
    public static let mostDepth = 16

    package var depth: Int {
        switch self {
        case .factor, .pam: 1
        case .any(let children), .all(let children), .atLeast(_, let children):
            1 + (children.map(\.depth).max() ?? 0)
        }
    }
}

extension PolicyFactor {
    /// The factor's place among all factors.
    package var index: Int {
        switch self {
        case .presence: 0
        case .passcode: 1
        case .biometry: 2
        case .biometryCurrentSet: 3
        case .confirm: 4
        case .companion: 5
        case .appPassword: 6
        case .login: 7
        }
    }

    package init?(index: Int) {
        guard let found = Self.allCases.first(where: { $0.index == index }) else { return nil }
        self = found
    }
}

extension PolicyImage {
    /// The demand as a rule wrote it.
    package func demand(_ number: Int) -> PolicyDemand {
        var place = start(.trees) + Int(word(.demands, number))
        return PolicyDemand(
            constraint(&place),
            within: PolicyDuration(milliseconds: Int64(bitPattern: wide(.demands, number, 2))),
            scope: Freshness(rawValue: UInt8(truncatingIfNeeded: word(.demands, number, 1)))
                ?? .operation)
    }

    private func constraint(_ place: inout Int) -> PolicyConstraint {
        let head = words[place]
        place += 1
        let value = Int(head >> 3)
        switch TreeKind(rawValue: head & 7) {
        case .factor: return .factor(PolicyFactor(index: value) ?? .presence)
        case .pamWithin:
            let low = UInt64(words[place])
            let within = Int64(bitPattern: low | UInt64(words[place + 1]) << 32)
            place += 2
            return .pam(
                text(.services, value), within: PolicyDuration(milliseconds: within))
        case .any: return .any((0..<value).map { _ in constraint(&place) })
        case .all: return .all((0..<value).map { _ in constraint(&place) })
        case .atLeast:
            let count = Int(words[place])
            place += 1
            return .atLeast(count, of: (0..<value).map { _ in constraint(&place) })
        case .pam, nil: return .pam(text(.services, value), within: nil)
        }
    }
}
