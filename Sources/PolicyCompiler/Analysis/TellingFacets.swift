// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl

/// Of the facets of two sets those that tell of differences: what only one has, and what may take
/// such a difference back.
struct TellingFacets {
    private var demands: Set<PolicyDemand> = []
    private var redacted: Set<PolicyText> = []
    private var audits = false

    init(_ facets: [Facet]) {
        for facet in facets where facet.isOneSided {
            switch facet.kind {
            case .require(let demand): demands.insert(demand)
            case .redact(let names): redacted.formUnion(names)
            case .audit: audits = true
            case .releases, .member, .forbid, .share, .closed, .permit: break
            }
        }
    }

    func contains(_ facet: Facet) -> Bool {
        if facet.isOneSided { return true }
        return switch facet.kind {
        case .require(let demand): demands.contains(demand)
        case .redact(let names): !names.isDisjoint(with: redacted)
        case .audit: audits
        case .releases, .member, .forbid, .share, .closed, .permit: false
        }
    }
}

extension Facet {
    /// Of two sets only one has it.
    var isOneSided: Bool { sides != 3 }
}
