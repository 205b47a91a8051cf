// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
public import KeychainPolicyEngine
public import KeychainPolicyModel

/// Decides whether an operation on an item may go on. Pure: the same request, evidence and policy
/// always get the same verdict.
///
/// Policy only tightens what the item's own access control says, but for shares and groups, which
/// let others know of an item: its needs and the policy's are met together or not at all.
public struct Judge: Sendable {
    public let policy: CompiledPolicy
    /// Some of its rules decide nothing: the record tells what they would decide.
    public let hasPermissiveRules: Bool

    public init(_ policy: CompiledPolicy = .empty) {
        self.policy = policy
        hasPermissiveRules = policy.hasPermissiveRules
    }

    public func judge(_ request: AccessRequest, _ evidence: Evidence) -> Verdict {
        let ruling = policy.decide(request.admitted(to: policy, evidence))
        if ruling.outcome == .deny { return .deny(denial(of: request, evidence, ruling.lead)) }
        if let denial = request.classDenial { return .deny(denial) }
        if ruling.outcome == .allow {
            return .allow(
                Grant(
                    request, redacted: policy.attributes(ruling.redactions).map(\.string),
                    because: ruling.lead.flatMap { policy.id(of: $0)?.string },
                    wantsFullAudit: ruling.audit == .full))
        }
        let needs = policy.decision(on: request.policyRequest(evidence)).requires
        return needs.map { challenge(request, Requirement($0), evidence) } ?? .deny(.impossible)
    }

    private func denial(
        of request: AccessRequest, _ evidence: Evidence, _ lead: Int?
    ) -> Denial {
        // Who may not know of the item hears nothing of a rule about it.
        guard request.isOwn || request.isLetIn else { return .unknownItem }
        if let lead {
            let because = policy.decision(on: request.policyRequest(evidence)).because
            return .forbidden(because: because.map(\.string), first: place(lead))
        }
        return request.classDenial ?? .impossible
    }

    private func challenge(
        _ request: AccessRequest, _ requirement: Requirement, _ evidence: Evidence
    ) -> Verdict {
        guard request.canProve(requirement, given: evidence) else { return .deny(.impossible) }
        guard request.circumstances.mayAsk == true else { return .deny(.interactionNotAllowed) }
        return .allowAfter(requirement)
    }

    /// What the policy makes of the request, for the record; nil where there is no policy.
    public func account(
        of request: AccessRequest, _ evidence: Evidence
    ) -> (request: PolicyRequest, decision: PolicyDecision)? {
        guard !policy.isEmpty else { return nil }
        let asked = request.policyRequest(evidence)
        return (asked, policy.decision(on: asked))
    }

    /// Whether items of the client's own groups may be deleted that can't be read: not where a rule
    /// or a limit could ask for something, once it were known what the items are.
    public func mayDeleteUnread(_ circumstances: AccessRequest.Circumstances) -> Bool {
        guard !policy.isEmpty else { return true }
        var facts = circumstances.facts
        for field in TextField.ofItem { facts[field] = .unknown }
        facts[.itemClass] = .unknown
        facts[.accessible] = .unknown
        facts.flags = .unknown
        facts[.member] = .known(true)
        circumstances.addMoment(to: &facts)
        let request = PolicyRequest(.delete, facts: facts, day: circumstances.day)
        let decision = policy.decision(on: request)
        return decision.outcome == .allow && policy.limits(on: policy.admit(request)).isEmpty
    }

    /// What the proofs that the request still needs will be good for later: the user is told
    /// before.
    public func reaches(of request: AccessRequest, _ evidence: Evidence) -> Set<ProofReach> {
        guard !policy.isEmpty else { return [] }
        return policy.reaches(of: request.policyRequest(evidence))
    }

    /// Where a rule stands, for people.
    func place(_ statement: Int) -> String? {
        policy.provenance(of: statement).map { "\($0.origin.file):\($0.origin.line)" }
    }
}

extension AccessRequest {
    fileprivate var isOwn: Bool {
        circumstances.callerGroups.firstSame(as: item.accessGroup) != nil
    }

    fileprivate var isLetIn: Bool {
        item.admission.covers(circumstances.policyOperation)
    }

    /// Deleting needs no class key: what can't be read can still be thrown away.
    fileprivate var classDenial: Denial? {
        guard circumstances.operation != .delete else { return nil }
        let keychain = circumstances.keychain
        let protection = item.accessControl.protection
        if protection == .whenPasscodeSetThisDeviceOnly, keychain.isPasscodeSet != true {
            return .passcodeNotSet
        }
        return keychain.holds(protection) ? nil : .locked
    }

    /// What the item asks for before the operation. An item whose reading could never be
    /// authorised can't be made either: its owner would lose what was put in.
    fileprivate var constraint: Constraint {
        let operation = circumstances.operation
        let own = item.constraint(for: operation)
        guard operation == .encrypt, own == .always else { return own }
        switch PolicyItemConstraint(item.constraint(for: .decrypt)) {
        case .none: return .always
        case .never: return .never
        case .needs(let reading):
            return canProve(Requirement(reading), given: Evidence()) ? .always : .never
        }
    }

    /// Without a password no user can prove to be the keychain's owner.
    fileprivate func canProve(_ requirement: Requirement, given evidence: Evidence) -> Bool {
        circumstances.keychain.isPasscodeSet == true
            && requirement.cheapestProof(given: evidence, available: circumstances.provable) != nil
    }

    /// The request with all that is known of it, for the record and the explanation.
    func policyRequest(_ evidence: Evidence) -> PolicyRequest {
        var facts = circumstances.facts.with(item: item.facts)
        add(to: &facts)
        return PolicyRequest(
            circumstances.policyOperation, facts: facts, evidence: evidence.proofs,
            day: circumstances.day)
    }

    /// The same in the policy's numbers, as far as it asks.
    func admitted(to policy: CompiledPolicy, _ evidence: Evidence) -> AdmittedRequest {
        let own = item.described
        var facts = circumstances.facts
        own.addChoices(to: &facts)
        add(to: &facts)
        return policy.admit(
            circumstances.policyOperation, facts, numbered: circumstances.numbered, of: own,
            evidence: evidence.proofs, day: circumstances.day)
    }

    /// What is known of the request beside its subject and the item's own facts.
    private func add(to facts: inout PolicyFacts) {
        facts[.member] = .known(isOwn)
        facts.isLetIn = isLetIn
        circumstances.addMoment(to: &facts)
        facts.constraint = PolicyItemConstraint(constraint)
    }
}

extension AccessRequest.Circumstances {
    /// What is known of the keychain and its user at this moment.
    fileprivate func addMoment(to facts: inout PolicyFacts) {
        facts[.interactive] = mayAsk.map { .known($0) } ?? .unknown
        facts[.unlocked] = .known(keychain.isUnlocked)
        facts[.passcodeSet] = keychain.isPasscodeSet.map { .known($0) } ?? .unknown
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
