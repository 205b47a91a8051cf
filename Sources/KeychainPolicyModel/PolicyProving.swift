// SPDX-License-Identifier: Apache-2.0

extension PolicyMethod {
    /// Whether it proves the factor, by itself or because it proves more.
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
    /// How old a proof for the operation may be, whatever is written: releasing key material and
    /// changing rights take a fresh one.
    package static func bound(_ operation: PolicyOperation, _ scope: Freshness) -> PolicyDuration {
        switch operation {
        case .export, .changeACL: .zero
        default: scope.longest ?? PolicyDuration(milliseconds: .max)
        }
    }

    /// Whether the evidence meets it for the operation.
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

extension PolicyItemConstraint {
    /// What an item asks for, with the freshness that none but policy may relax.
    package var demand: PolicyDemand? {
        guard case .needs(let constraint) = self else { return nil }
        return PolicyDemand(constraint)
    }
}
