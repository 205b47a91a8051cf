// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The effects of two sets that can make a difference: those that only one set has, and those that
/// may cancel such a difference.
struct DistinguishingEffects {
    private var demands: Set<PolicyDemand> = []
    private var redacted: Set<PolicyText> = []
    private var audits = false

    init(_ effects: [RuleEffect]) {
        for effect in effects where effect.isOneSided {
            switch effect.kind {
            case .require(let demand): demands.insert(demand)
            case .redact(let names): redacted.formUnion(names)
            case .audit: audits = true
            case .releases, .member, .joins, .forbid, .share, .closed, .permit: break
            }
        }
    }

    func contains(_ effect: RuleEffect) -> Bool {
        if effect.isOneSided { return true }
        return switch effect.kind {
        case .require(let demand): demands.contains(demand)
        case .redact(let names): !names.isDisjoint(with: redacted)
        case .audit: audits
        case .releases, .member, .joins, .forbid, .share, .closed, .permit: false
        }
    }
}

extension RuleEffect {
    /// Whether only one of the two sets has it.
    var isOneSided: Bool { sides != 3 }
}
