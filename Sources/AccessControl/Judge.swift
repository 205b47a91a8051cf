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
        let requirement = Requirement(request.constraint)
        if evidence.meets(requirement.constraint) { return .allow(Grant(request)) }
        guard requirement.cheapestProof(given: evidence) != nil else { return .deny(.impossible) }
        // Without a password nobody can prove that he is the keychain's owner.
        guard request.keychain.isPasscodeSet else { return .deny(.impossible) }
        guard request.mayAsk else { return .deny(.interactionNotAllowed) }
        return .allowAfter(requirement)
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
        let own = item.accessControl.constraint(for: operation)
        guard operation == .encrypt, own == .always else { return own }
        let reading = Requirement(item.accessControl.constraint(for: .decrypt))
        if reading.constraint == .always { return .always }
        let canBeRead = keychain.isPasscodeSet && reading.cheapestProof() != nil
        return canBeRead ? .always : .never
    }
}

extension AccessRequest.Item {
    fileprivate func belongs(to group: String) -> Bool {
        group.utf8.elementsEqual(accessGroup.utf8)
    }
}
