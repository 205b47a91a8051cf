// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// One set's answer to some requests.
struct SetState {
    /// Whether the set refuses them.
    var isDenied = false
    /// One set of demands for each case.
    private(set) var demands: [Set<PolicyDemand>] = [[], []]
    private(set) var redacted: Set<PolicyText> = []
    private(set) var isAuditedInFull = false
    private(set) var isForbidden = false
    /// The numbers of the matching effects that only one of two sets has.
    var changed: Set<Int> = []
    private var reached = [false, false]
    private var closed = [false, false]
    private var permitted = [false, false]

    mutating func apply(_ effect: RuleEffect) {
        let number = effect.number.rawValue
        switch effect.kind {
        case .releases, .joins: break
        case .forbid: isForbidden = true
        case .member, .share: reached[number] = true
        case .closed: closed[number] = true
        case .permit: permitted[number] = true
        case .require(let demand): demands[number].insert(demand)
        case .redact(let names): redacted.formUnion(names)
        case .audit: isAuditedInFull = true
        }
    }

    /// Whether this set, apart from its forbids, lets the requests through wherever the other one
    /// does, given that all effects common to both count equally.
    func isOpen(wherever other: SetState) -> Bool {
        CaseNumber.allCases.map(\.rawValue).allSatisfy { number in
            (reached[number] || !other.reached[number])
                && (permitted[number] || !other.permitted[number])
                && (!closed[number] || other.closed[number])
        }
    }
}
