// SPDX-License-Identifier: Apache-2.0

extension PolicyMethod {
    /// Whether the method proves the factor, by itself or because it proves more.
    package func proves(_ factor: PolicyFactor) -> Bool {
        guard case .factor(let own) = self else { return false }
        return own == factor || own.stands(for: factor)
    }
}

extension PolicyFactor {
    fileprivate func stands(for other: PolicyFactor) -> Bool {
        switch other {
        case .presence:
            [.biometry, .biometryCurrentSet, .passcode, .companion].contains(self)
        case .biometry: self == .biometryCurrentSet
        default: false
        }
    }
}

extension PolicyDemand {
    /// The greatest age of a proof for the operation, whatever the policy says: releasing key
    /// material and changing rights need a fresh one.
    package static func bound(_ operation: PolicyOperation, _ scope: Freshness) -> PolicyDuration {
        switch operation {
        case .export, .changeACL: .zero
        default: scope.longest ?? PolicyDuration(milliseconds: .max)
        }
    }

    /// Whether the evidence meets the demand for the operation.
    public func isMet(by evidence: [PolicyProof], for operation: PolicyOperation) -> Bool {
        let bound = Self.bound(operation, scope)
        let usable = evidence.filter { $0.scope <= scope }
        return constraint.isMet(by: usable, within: within, bound: bound)
    }
}

extension PolicyConstraint {
    fileprivate func isMet(
        by evidence: [PolicyProof], within: PolicyDuration, bound: PolicyDuration
    ) -> Bool {
        func met(_ child: PolicyConstraint) -> Bool {
            child.isMet(by: evidence, within: within, bound: bound)
        }
        switch self {
        case .factor(let factor):
            return evidence.contains { $0.age <= min(within, bound) && $0.method.proves(factor) }
        case .pam(let service, let own):
            return evidence.contains {
                $0.age <= min(own ?? within, bound) && $0.method == .pam(service)
            }
        case .any(let children): return children.contains(where: met)
        case .all(let children): return children.allSatisfy(met)
        case .atLeast(let count, let children): return children.count(where: met) >= count
        }
    }
}

extension PolicyDemand {
    /// Whether all evidence that meets this demand also meets the other. False is not certain for
    /// demands with thresholds.
    package func implies(_ other: PolicyDemand) -> Bool {
        scope <= other.scope && implies(constraint, other, other.constraint)
    }

    private var longest: PolicyDuration { scope.longest ?? PolicyDuration(milliseconds: .max) }

    /// Compares a part of this demand with a part of the other.
    private func implies(
        _ own: PolicyConstraint, _ other: PolicyDemand, _ wanted: PolicyConstraint
    ) -> Bool {
        func met(_ part: PolicyConstraint, _ wanted: PolicyConstraint) -> Bool {
            implies(part, other, wanted)
        }
        func isYounger(_ age: PolicyDuration?, _ than: PolicyDuration?) -> Bool {
            min(age ?? within, longest) <= min(than ?? other.within, other.longest)
        }
        switch (own, wanted) {
        case (_, .all(let parts)): return parts.allSatisfy { met(own, $0) }
        case (.any(let parts), _): return parts.allSatisfy { met($0, wanted) }
        case (.factor(let factor), .factor(let asked)):
            return PolicyMethod.factor(factor).proves(asked) && isYounger(nil, nil)
        case (.pam(let service, let age), .pam(let asked, let than)):
            return service == asked && isYounger(age, than)
        case (.all(let parts), _) where parts.contains { met($0, wanted) }: return true
        case (_, .any(let parts)) where parts.contains { met(own, $0) }: return true
        case (_, .atLeast(1, let parts)) where parts.contains { met(own, $0) }: return true
        default: break
        }
        guard let (count, parts) = own.threshold else { return false }
        guard let (least, others) = wanted.threshold else {
            // At least `count` parts are met, and fewer than `count` parts don't imply the wanted
            // one, so a part that implies it is always among them.
            return parts.count { met($0, wanted) } > parts.count - count
        }
        // Each part counts for one of the other demand's parts only.
        var left = others
        let strange = parts.count { part in
            guard let place = left.firstIndex(where: { met(part, $0) }) else { return true }
            left.remove(at: place)
            return false
        }
        return count - strange >= least
    }
}

extension PolicyConstraint {
    /// The number of parts that must be met, and the parts; nil for a single proof.
    fileprivate var threshold: (count: Int, parts: [PolicyConstraint])? {
        switch self {
        case .factor, .pam: nil
        case .any(let parts): (1, parts)
        case .all(let parts): (parts.count, parts)
        case .atLeast(let count, let parts): (count, parts)
        }
    }
}

extension PolicyItemConstraint {
    /// The demand of an item's own constraint, with a freshness that only policy may relax.
    package var demand: PolicyDemand? {
        guard case .needs(let constraint) = self else { return nil }
        return PolicyDemand(constraint)
    }
}
