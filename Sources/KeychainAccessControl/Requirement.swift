// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
public import KeychainPolicyModel

/// The proofs that are still needed, in canonical form: equal requirements compare equal.
public struct Requirement: Sendable, Hashable {
    public let constraint: PolicyConstraint
    /// Beyond this number of methods not every combination is tried.
    private static let mostMethods = 12

    public init(_ constraint: PolicyConstraint) { self.constraint = constraint.canonical }

    /// A requirement that meets all of them, so that a request for many items asks one question.
    public static func all(_ requirements: some Sequence<Requirement>) -> Requirement {
        Requirement(.all(requirements.map(\.constraint)))
    }

    /// The proofs that meet the requirement with the least trouble for the user, least troublesome
    /// first; nil where the available methods can't meet it.
    public func cheapestProof(
        given evidence: Evidence = Evidence(), available: Set<PolicyMethod>
    ) -> [PolicyMethod]? {
        let useful = available.union(approvals(besides: available)).filter { method in
            constraint.mentions { method.provesAny(of: $0) }
        }
        let methods = useful.sorted { ($0.trouble, $0.order) < ($1.trouble, $1.order) }
            .prefix(Self.mostMethods)
        let choices = (0..<(1 << methods.count)).map { bits in
            methods.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
        }
        let byTrouble = choices.enumerated().sorted { a, b in
            (a.element.trouble, a.offset) < (b.element.trouble, b.offset)
        }
        return byTrouble.map(\.element).first { isMet(by: evidence.adding(all: $0)) }
    }

    /// The approvals that people other than the asker could give.
    public func approvals(besides available: Set<PolicyMethod>) -> [PolicyMethod] {
        guard let asker = available.lazy.compactMap(\.asker).first else { return [] }
        return constraint.approvers.map(\.string).filter { $0 != asker }
            .map { PolicyMethod.approval(by: $0) }
    }

    private func isMet(by evidence: Evidence) -> Bool {
        PolicyDemand(constraint).isMet(by: evidence.proofs, for: .readAttributes)
    }
}

extension Evidence {
    fileprivate func adding(all methods: [PolicyMethod]) -> Evidence {
        methods.reduce(self) { $0.adding($1) }
    }
}

extension [PolicyMethod] {
    fileprivate var trouble: Int { reduce(0) { $0 + $1.trouble } }
}

extension PolicyMethod {
    /// How much the method asks of a person.
    fileprivate var trouble: Int {
        switch self {
        case .factor(.presence): 2
        case .factor(.biometry), .factor(.biometryCurrentSet), .factor(.confirm): 3
        case .factor(.companion): 4
        case .factor(.passcode), .factor(.appPassword), .factor(.login): 5
        case .pam: 6
        }
    }

    fileprivate var order: String {
        switch self {
        case .factor(let factor): factor.rawValue
        case .pam(let service): service.string
        }
    }

    fileprivate func provesAny(of leaf: PolicyConstraint) -> Bool {
        switch leaf {
        case .factor(let factor): proves(factor)
        case .pam(let service, _): self == .pam(service)
        case .any, .all, .atLeast: false
        }
    }
}

extension PolicyConstraint {
    fileprivate func mentions(_ isMeant: (PolicyConstraint) -> Bool) -> Bool {
        switch self {
        case .factor, .pam: isMeant(self)
        case .any(let children), .all(let children), .atLeast(_, let children):
            children.contains { $0.mentions(isMeant) }
        }
    }
}
