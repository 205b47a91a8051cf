// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// What is known of some requests in one set.
struct SetState {
    /// Whether it refuses them.
    var isDenied = false
    /// In each case.
    private(set) var demands: [Set<PolicyDemand>] = [[], []]
    private(set) var redacted: Set<PolicyText> = []
    private(set) var isAuditedInFull = false
    private(set) var isForbidden = false
    /// The effects that only one of two sets has and that match, by their numbers.
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

    /// Whether it lets be, but for its forbids, whatever the other lets be, as long as what else
    /// there is counts for both.
    func isOpen(wherever other: SetState) -> Bool {
        CaseNumber.allCases.map(\.rawValue).allSatisfy { number in
            (reached[number] || !other.reached[number])
                && (permitted[number] || !other.permitted[number])
                && (!closed[number] || other.closed[number])
        }
    }
}
