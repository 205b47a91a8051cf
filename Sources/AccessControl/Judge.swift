// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// Decides whether an operation on an item may go on. Pure: the same request and the same evidence
/// always get the same verdict.
public enum Judge {
    public static func judge(_ request: AccessRequest, _ evidence: Evidence) -> Verdict {
        guard request.callerGroups.contains(where: request.item.belongs(to:)) else {
            return .deny(.unknownItem)
        }
        if let denial = classDenial(request) { return .deny(denial) }
        switch PolicyItemConstraint(request.constraint) {
        case .none: return .allow(Grant(request))
        case .never: return .deny(.impossible)
        case .needs(let constraint):
            let demand = PolicyDemand(constraint)
            if demand.isMet(by: evidence.proofs, for: request.policyOperation) {
                return .allow(Grant(request))
            }
            let requirement = Requirement(constraint)
            guard request.canProve(requirement) else { return .deny(.impossible) }
            guard request.mayAsk else { return .deny(.interactionNotAllowed) }
            return .allowAfter(requirement)
        }
    }

    /// Deleting needs no class key: what can't be read can still be thrown away.
    private static func classDenial(_ request: AccessRequest) -> Denial? {
        guard request.operation != .delete else { return nil }
        let protection = request.item.accessControl.protection
        if protection == .whenPasscodeSetThisDeviceOnly, !request.keychain.isPasscodeSet {
            return .passcodeNotSet
        }
        return request.keychain.holds(protection) ? nil : .locked
    }
}

extension AccessRequest {
    /// What the item asks for before the operation. An item whose reading could never be
    /// authorised can't be made either: its owner would lose what he put in.
    fileprivate var constraint: Constraint {
        let own = item.constraint(for: operation)
        guard operation == .encrypt, own == .always else { return own }
        switch PolicyItemConstraint(item.constraint(for: .decrypt)) {
        case .none: return .always
        case .never: return .never
        case .needs(let reading): return canProve(Requirement(reading)) ? .always : .never
        }
    }

    /// Without a password nobody can prove that he is the keychain's owner.
    fileprivate func canProve(_ requirement: Requirement) -> Bool {
        keychain.isPasscodeSet && requirement.cheapestProof(available: provable) != nil
    }

    fileprivate var policyOperation: PolicyOperation {
        switch operation {
        case .decrypt: .readSecret
        case .encrypt: .add
        case .delete: .delete
        case .sign, .attest: .sign
        case .computeKey: .derive
        case .decapsulate: .decrypt
        }
    }
}

extension AccessRequest.Item {
    fileprivate func constraint(for operation: ItemOperation) -> Constraint {
        let own = accessControl.constraint(for: operation)
        return own.withCurrentBiometry(biometryIsCurrent).canonical
    }
}

extension Constraint {
    /// A biometry that is bound to what was enrolled then is as good as any while that is so, and
    /// nothing afterwards.
    fileprivate func withCurrentBiometry(_ isCurrent: Bool) -> Constraint {
        switch self {
        case .biometryCurrentSet: isCurrent ? .biometryAny : .never
        case .atLeast(let required, let members):
            .atLeast(required: required, of: members.map { $0.withCurrentBiometry(isCurrent) })
        default: self
        }
    }
}

extension AccessRequest.Item {
    fileprivate func belongs(to group: String) -> Bool {
        group.utf8.elementsEqual(accessGroup.utf8)
    }
}
