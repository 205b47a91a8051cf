// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Of the effects of two sets those that tell of differences: what only one has, and what may take
/// such a difference back.
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
    /// Of two sets only one has it.
    var isOneSided: Bool { sides != 3 }
}
