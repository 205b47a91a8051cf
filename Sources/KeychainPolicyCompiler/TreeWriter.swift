// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

struct TreeWriter {
    private(set) var words: [UInt32] = []
    private(set) var services = Interned<PolicyText>()

    /// Returns the place where the tree begins.
    mutating func write(_ constraint: PolicyConstraint) -> UInt32 {
        let place = UInt32(words.count)
        append(constraint)
        return place
    }

    private mutating func append(_ constraint: PolicyConstraint) {
        switch constraint {
        case .factor(let factor): head(.factor, UInt32(factor.index))
        case .pam(let service, nil): head(.pam, services.number(of: service))
        case .pam(let service, let within?):
            head(.pamWithin, services.number(of: service))
            words += PolicyImage.halves(UInt64(bitPattern: within.milliseconds))
        case .any(let children): list(.any, children)
        case .all(let children): list(.all, children)
        case .atLeast(let count, let children):
            head(.atLeast, UInt32(children.count))
            words.append(UInt32(clamping: count))
            for child in children { append(child) }
        }
    }

    private mutating func list(_ kind: TreeKind, _ children: [PolicyConstraint]) {
        head(kind, UInt32(children.count))
        for child in children { append(child) }
    }

    private mutating func head(_ kind: TreeKind, _ value: UInt32) {
        words.append(kind.rawValue | value << 3)
    }
}
