// SPDX-License-Identifier: Apache-2.0
public import KeychainModel
public import KeychainPolicyEngine
public import KeychainPolicyModel

/// One operation on one item, with every fact that its judgement may rest on. A class, as every step
/// of the judgement refers to it, and so does the record.
public final class AccessRequest: Sendable {
    /// The facts about the item that the store authenticates.
    public struct Item: Sendable {
        public let reference: ItemReference
        /// The item as policies see it, with the present attributes, or those that it would have.
        let described: PolicyItem
        public var accessGroup: String { described.accessGroup }
        public var accessControl: ItemAccessControl { described.rights }
        /// Whether the enrolled biometry is the one that the item was bound to; true where it is
        /// bound to none.
        public let biometryIsCurrent: Bool
        /// How the caller may know of the item other than by its group or a rule.
        public var admission: Admission

        /// `keychain` is the name of the one that the item lies in.
        public init(
            reference: ItemReference, accessGroup: String, accessControl: ItemAccessControl,
            biometryIsCurrent: Bool = true, attributes: Attributes = [:], keychain: String = "",
            admission: Admission = .none
        ) {
            self.admission = admission
            self.reference = reference
            described = PolicyItem(
                reference.itemClass, attributes, accessGroup: accessGroup, rights: accessControl,
                keychain: keychain)
            self.biometryIsCurrent = biometryIsCurrent
        }

        /// The facts about the item that policies can know.
        public var facts: PolicyFacts { described.facts }
    }

    /// How a caller may know of an item other than by its group or the policy.
    public enum Admission: Sendable, Hashable {
        case none
        /// The item's user trusts the program with it: the program may read it, and do nothing
        /// else.
        case trusted
        /// The item's user had the program join the item's group: it may read, change and delete
        /// the item. To policies it is no member of the group.
        case joined
        /// The caller may change the item. That gives no right to its list of programs, except that
        /// the caller may ask to have it changed.
        case mayChange

        func covers(_ operation: PolicyOperation) -> Bool {
            switch self {
            case .none: false
            case .trusted: PolicyOperations.read.contains(operation)
            case .joined:
                PolicyOperations.read.contains(operation) || [.update, .delete].contains(operation)
            case .mayChange: operation == .changeACL
            }
        }
    }

    /// The state of the keychain when the request is judged.
    public struct Keychain: Sendable, Equatable {
        public let isUnlocked: Bool
        public let wasUnlockedSinceBoot: Bool
        /// Whether it has a password protector; nil where this was not looked up, which allows
        /// nothing that either answer would not.
        public let isPasscodeSet: Bool?

        public init(isUnlocked: Bool, wasUnlockedSinceBoot: Bool, isPasscodeSet: Bool?) {
            self.isUnlocked = isUnlocked
            self.wasUnlockedSinceBoot = wasUnlockedSinceBoot
            self.isPasscodeSet = isPasscodeSet
        }

        func holds(_ accessible: Accessibility) -> Bool {
            switch accessible.availability {
            case .always: true
            case .afterFirstUnlock: wasUnlockedSinceBoot
            case .whileUnlocked: isUnlocked
            }
        }
    }

    /// The caller, the operation and the moment: the same for all items of a call. A class, as
    /// every request of the call refers to it.
    public final class Circumstances: Sendable {
        /// The operation whose access control entry counts, and which a grant is for.
        public let operation: ItemOperation
        /// The same operation in the policies' terms.
        public let policyOperation: PolicyOperation
        public let callerGroups: [String]
        public let keychain: Keychain
        /// Whether the user may be asked a question and is there to answer; nil where this was not
        /// looked up, which allows nothing that either answer would not.
        public let mayAsk: Bool?
        /// The methods by which a person could give a proof on this machine.
        public let provable: Set<PolicyMethod>
        /// The facts that policies ask about the caller and the moment; empty where there are no
        /// policies.
        public let facts: PolicyFacts
        /// The texts among those facts as the policy's numbers, where they were computed before.
        public let numbered: NumberedTexts?
        /// Today's local date in days since 1970-01-01.
        public let day: Int32

        public init(
            _ operation: ItemOperation, as policyOperation: PolicyOperation,
            callerGroups: [String], keychain: Keychain, mayAsk: Bool?,
            provable: Set<PolicyMethod>, facts: PolicyFacts = PolicyFacts(),
            numbered: NumberedTexts? = nil, day: Int32 = 0
        ) {
            self.operation = operation
            self.policyOperation = policyOperation
            self.callerGroups = callerGroups
            self.keychain = keychain
            self.mayAsk = mayAsk
            self.provable = provable
            self.facts = facts
            self.numbered = numbered
            self.day = day
        }

        /// The same caller and moment, for another operation of the call.
        public func of(
            _ operation: ItemOperation, as policyOperation: PolicyOperation,
            callerGroups: [String]? = nil
        ) -> Circumstances {
            Circumstances(
                operation, as: policyOperation, callerGroups: callerGroups ?? self.callerGroups,
                keychain: keychain, mayAsk: mayAsk, provable: provable, facts: facts,
                numbered: numbered, day: day)
        }
    }

    public let circumstances: Circumstances
    public let item: Item

    public init(_ circumstances: Circumstances, on item: Item) {
        self.circumstances = circumstances
        self.item = item
    }
}

/// The proofs given, and how each may serve one request. Facts only: a decision is never kept.
public struct Evidence: Sendable, Equatable {
    /// One object, as every step of a request passes the evidence on; nil where nothing was proven,
    /// as for most requests.
    private let given: Given?

    private final class Given: Sendable {
        let proofs: [PolicyProof]
        /// Proofs that serve some items and no other, such as a yes.
        let ofItems: [ItemReference: [PolicyProof]]

        init(_ proofs: [PolicyProof], _ ofItems: [ItemReference: [PolicyProof]]) {
            self.proofs = proofs
            self.ofItems = ofItems
        }
    }

    public var proofs: [PolicyProof] { given?.proofs ?? [] }
    private var ofItems: [ItemReference: [PolicyProof]] { given?.ofItems ?? [:] }

    public init(_ proofs: [PolicyProof] = [], ofItems: [ItemReference: [PolicyProof]] = [:]) {
        given = proofs.isEmpty && ofItems.isEmpty ? nil : Given(proofs, ofItems)
    }

    public static func == (a: Evidence, b: Evidence) -> Bool {
        a.given === b.given || a.proofs == b.proofs && a.ofItems == b.ofItems
    }

    /// The evidence together with the proofs for that item alone.
    public func about(_ item: ItemReference) -> Evidence {
        guard let ofItem = given?.ofItems[item] else { return self }
        return Evidence(proofs + ofItem)
    }

    /// The evidence together with a proof made for this very request.
    public func adding(_ method: PolicyMethod) -> Evidence {
        Evidence(
            proofs + [PolicyProof(method, age: .zero, scope: .operation)], ofItems: ofItems)
    }

    public func adding(_ other: Evidence) -> Evidence {
        Evidence(proofs + other.proofs, ofItems: ofItems.merging(other.ofItems) { $0 + $1 })
    }

    public var isEmpty: Bool { given == nil }
}

extension PolicyMethod {
    /// The PAM service that proves the method; nil for a method that PAM does not prove.
    public var service: String? {
        switch self {
        case .factor(.presence): "keychain-presence"
        case .factor(.passcode): "keychain-passcode"
        case .factor(.biometry): "keychain-biometry"
        case .factor(.companion): "keychain-companion"
        case .factor(.biometryCurrentSet), .factor(.confirm), .factor(.appPassword),
            .factor(.login):
            nil
        case .pam(let service): service.string
        }
    }

    /// The factors that this project's PAM services prove.
    public static let factors: [PolicyMethod] = [
        .factor(.presence), .factor(.biometry), .factor(.companion), .factor(.passcode),
    ]
}

/// Identifies the policies that decided: a hash over the compiled policies, and the number of the
/// load since the service began.
public struct PolicyRevision: Sendable, Hashable, CustomStringConvertible {
    private let hash: UInt64
    /// Counts the loads since keychaind started.
    public let number: UInt32

    /// `hash` is shortened to its first six bytes.
    public init(hash: [UInt8], number: UInt32) {
        self.hash = hash.prefix(6).reduce(0) { $0 << 8 | UInt64($1) }
        self.number = number
    }

    /// `3f2a9c81d0e4.2`
    public var description: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: max(12 - digits.utf8.count, 0)) + digits + ".\(number)"
    }
}

/// Decides whether an operation on an item may go on. Pure: the same request, evidence and policy
/// always get the same verdict.
///
/// Policy only tightens an item's own access control, except that shares and groups let others know
/// of an item. The item's requirements and the policy's are met together or not at all.
///
/// A class, as every request refers to it.
public final class Judge: Sendable {
    public let policy: CompiledPolicy
    /// nil for policies that no file holds.
    public let revision: PolicyRevision?
    /// Whether some rules are permissive: they decide nothing, and the record tells what they would
    /// decide.
    public let hasPermissiveRules: Bool

    public init(_ policy: CompiledPolicy = .empty, revision: PolicyRevision? = nil) {
        self.policy = policy
        self.revision = revision
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
        return challenge(request, evidence)
    }

    private func denial(
        of request: AccessRequest, _ evidence: Evidence, _ lead: Int?
    ) -> Denial {
        // A caller that may not know of the item must not hear of a rule about it.
        guard request.isOwn || request.isLetIn else { return .unknownItem }
        if let lead {
            let because = policy.decision(on: request.policyRequest(evidence)).because
            return .forbidden(because: because.map(\.string), first: place(lead))
        }
        return request.classDenial ?? .impossible
    }

    private func challenge(_ request: AccessRequest, _ evidence: Evidence) -> Verdict {
        let needs = policy.decision(on: request.policyRequest(evidence)).requires
        guard let requirement = needs.map({ Requirement($0) }),
            request.canProve(requirement, given: evidence)
        else { return .deny(.impossible) }
        guard request.circumstances.mayAsk == true else { return .deny(.interactionNotAllowed) }
        return .allowAfter(requirement)
    }

    /// The policy's decision on the request, for the record; nil where there is no policy.
    public func account(
        of request: AccessRequest, _ evidence: Evidence
    ) -> (request: PolicyRequest, decision: PolicyDecision)? {
        guard !policy.isEmpty else { return nil }
        let asked = request.policyRequest(evidence)
        return (asked, policy.decision(on: asked))
    }

    /// Whether items of the client's own groups may be deleted unread: not where a rule or a limit
    /// could ask for something if the items were known.
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

    /// How far the proofs that the request still needs will count later: the user is told
    /// beforehand.
    public func reaches(of request: AccessRequest, _ evidence: Evidence) -> Set<ProofReach> {
        guard !policy.isEmpty else { return [] }
        return policy.reaches(of: request.policyRequest(evidence))
    }

    /// The file and line of a rule, for people.
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

    /// Deleting needs no class key: an item that can't be read can still be deleted.
    fileprivate var classDenial: Denial? {
        guard circumstances.operation != .delete else { return nil }
        let keychain = circumstances.keychain
        let protection = item.accessControl.protection
        if protection == .whenPasscodeSetThisDeviceOnly, keychain.isPasscodeSet != true {
            return .passcodeNotSet
        }
        return keychain.holds(protection) ? nil : .locked
    }

    /// The item's own constraint on the operation. An item whose reading could never be authorised
    /// can't be added either: its owner would lose the secret.
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

    /// Without a password, no user can be proven to own the keychain.
    fileprivate func canProve(_ requirement: Requirement, given evidence: Evidence) -> Bool {
        circumstances.keychain.isPasscodeSet == true
            && requirement.cheapestProof(given: evidence, available: circumstances.provable) != nil
    }

    /// The request with all known facts, for the record and the explanation.
    func policyRequest(_ evidence: Evidence) -> PolicyRequest {
        var facts = circumstances.facts.with(item: item.facts)
        add(to: &facts)
        return PolicyRequest(
            circumstances.policyOperation, facts: facts, evidence: evidence.proofs,
            day: circumstances.day)
    }

    /// The request in the policy's numbers, with the facts that the policy asks for.
    func admitted(to policy: CompiledPolicy, _ evidence: Evidence) -> AdmittedRequest {
        var facts = circumstances.facts
        item.described.addChoices(to: &facts)
        add(to: &facts)
        return policy.admit(
            circumstances.policyOperation, facts, numbered: circumstances.numbered,
            of: item.described,
            evidence: evidence.proofs, day: circumstances.day)
    }

    /// Adds the facts other than the subject's and the item's own.
    private func add(to facts: inout PolicyFacts) {
        facts[.member] = .known(isOwn)
        facts.isLetIn = isLetIn
        circumstances.addMoment(to: &facts)
        let constraint = constraint
        if constraint != .always { facts.constraint = PolicyItemConstraint(constraint) }
    }
}

extension AccessRequest.Circumstances {
    /// Adds the facts about the keychain and its user at this moment.
    public func addMoment(to facts: inout PolicyFacts) {
        facts[.interactive] = mayAsk.map { .known($0) } ?? .unknown
        facts[.unlocked] = .known(keychain.isUnlocked)
        facts[.passcodeSet] = keychain.isPasscodeSet.map { .known($0) } ?? .unknown
    }
}

extension AccessRequest.Item {
    fileprivate func constraint(for operation: ItemOperation) -> Constraint {
        let own = accessControl.constraint(for: operation)
        guard own != .always else { return own }
        return own.withCurrentBiometry(biometryIsCurrent).canonical
    }
}

extension Constraint {
    /// A constraint on the biometry enrolled at some moment asks for any biometry while that
    /// enrolment is current, and can't be met afterwards.
    fileprivate func withCurrentBiometry(_ isCurrent: Bool) -> Constraint {
        switch self {
        case .biometryCurrentSet: isCurrent ? .biometryAny : .never
        case .atLeast(let required, let members):
            .atLeast(required: required, of: members.map { $0.withCurrentBiometry(isCurrent) })
        default: self
        }
    }
}

/// The judge's answer to a request.
public enum Verdict: ~Copyable, Sendable {
    case allow(Grant)
    case deny(Denial)
    /// Allowed once this requirement is proven; then the request is judged again.
    case allowAfter(Requirement)
}

/// Why a request is refused.
public enum Denial: Sendable, Hashable {
    /// The caller may not know of the item: for the caller it does not exist.
    case unknownItem
    /// The item's access control forbids the operation, or asks for a proof that can't be given
    /// here.
    case impossible
    /// Rules of the administrator's policy forbid it: their ids, and the place of the first.
    case forbidden(because: [String], first: String?)
    /// A class key is missing.
    case locked
    /// The item's class needs a password protector, and the keychain has none.
    case passcodeNotSet
    /// A question would be needed, and none may be asked.
    case interactionNotAllowed
}

/// The right to do one operation on one item, once. Only the judge makes one; the code that opens
/// an item consumes it.
public struct Grant: ~Copyable, Sendable {
    public let operation: ItemOperation
    public let reference: ItemReference
    public let accessControl: ItemAccessControl
    /// The names of the attributes that the policy withholds from the answer.
    public let redacted: [String]
    /// Whether a rule wants an audit record of its own for the grant.
    public let wantsFullAudit: Bool
    /// The rule that allowed it, if there was one.
    public let because: String?

    init(
        _ request: AccessRequest, redacted: [String] = [], because: String? = nil,
        wantsFullAudit: Bool = false
    ) {
        operation = request.circumstances.operation
        reference = request.item.reference
        accessControl = request.item.accessControl
        self.redacted = redacted
        self.because = because
        self.wantsFullAudit = wantsFullAudit
    }
}
