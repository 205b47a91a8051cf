// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

/// What a set probably does not mean, as far as single rules and pairs of them show it.
public struct PolicyLint: Sendable {
    /// Something a policy names and a machine may lack.
    public enum Name: Sendable, Hashable {
        case unit(String)
        case service(String)
    }

    /// A request that meets more rules than this takes longer than it should.
    static let candidateBudget = 2_000

    public private(set) var diagnostics: [Diagnostic] = []

    /// `machine` says whether the machine has something; nil where that is of no interest.
    public init(_ loaded: LoadedPolicies, on machine: ((Name) -> Bool)? = nil) {
        let files = Dictionary(
            loaded.files.map { (PolicyText($0.source.path), $0) }, uniquingKeysWith: { $1 })
        let note = {
            (
                code: DiagnosticCode, id: PolicyText, origin: PolicyOrigin, message: String,
                advice: String?, notes: [String]
            ) -> Diagnostic? in
            files[PolicyText(origin.file)]?.diagnostic(
                code, at: origin, id.string, message, advice: advice, notes: notes)
        }
        diagnostics += Self.duplicates(loaded.policy).compactMap { rule, first in
            note(
                .duplicateRule, rule.id, rule.origin, "rule \(rule.id) says what another says", nil,
                ["\(first.id) (\(first.origin.file):\(first.origin.line))"])
        }
        diagnostics += loaded.policy.rules.filter { $0.effect.isPermit }.compactMap { rule in
            guard !loaded.policy.closed.contains(where: { $0.match.box.mayMeet(rule.match.box) })
            else { return nil }
            return note(
                .permitOutsideClosed, rule.id, rule.origin,
                "permit \(rule.id) lies outside every closed scope, and changes nothing",
                "close a scope, or remove the rule", [])
        }
        let covered = PolicyCoverage(loaded)
        diagnostics += covered.rules.filter { !$0.isCovered }.compactMap { rule in
            note(.untested, rule.id, rule.origin, "no test meets \(rule.id)", nil, [])
        }
        let most = PolicyDecider(loaded.policy).mostCandidates
        if most > Self.candidateBudget, let file = loaded.files.first {
            diagnostics.append(
                Diagnostic(
                    .slow, path: file.source.path,
                    "a request can meet \(most) candidate rules, more than \(Self.candidateBudget)",
                    advice: "name a service, program, app, unit or access group in each rule"))
        }
        if let machine { checkNames(loaded, machine, note) }
        diagnostics = Array(Set(diagnostics)).sorted()
    }

    private static func duplicates(
        _ policy: PolicySet
    ) -> [(rule: PolicyRule, first: PolicyRule)] {
        struct Meaning: Hashable {
            let mode: PolicyMode
            let effect: PolicyEffect
            let match: PolicyMatch
        }
        var seen: [Meaning: PolicyRule] = [:]
        return policy.rules.compactMap { rule in
            let meaning = Meaning(
                mode: rule.mode, effect: rule.effect.withoutReason, match: rule.match)
            if let first = seen[meaning] { return (rule, first) }
            seen[meaning] = rule
            return nil
        }
    }

    private mutating func checkNames(
        _ loaded: LoadedPolicies, _ machine: (Name) -> Bool,
        _ note: (DiagnosticCode, PolicyText, PolicyOrigin, String, String?, [String]) -> Diagnostic?
    ) {
        for rule in loaded.policy.rules {
            for unit in rule.match.box.conditions.literals(of: .unit)
            where !machine(.unit(unit.string)) {
                diagnostics += [
                    note(
                        .unknownName, rule.id, rule.origin,
                        "\(rule.id) names the unit \(unit), which this machine lacks", nil, [])
                ].compactMap(\.self)
            }
            for service in rule.effect.services where !machine(.service(service.string)) {
                diagnostics += [
                    note(
                        .unconfiguredService, rule.id, rule.origin,
                        "\(rule.id) needs the PAM service \(service), which this machine lacks",
                        "add /etc/pam.d/\(service)", [])
                ].compactMap(\.self)
            }
        }
    }
}

extension PolicyEffect {
    fileprivate var isPermit: Bool {
        if case .permit = self { true } else { false }
    }

    /// Reasons are for people; two rules that differ in them alone do the same.
    fileprivate var withoutReason: PolicyEffect {
        switch self {
        case .permit: .permit("")
        case .forbid: .forbid("")
        case .share: .share("")
        case .require(let demand):
            .require(
                PolicyDemand(
                    demand.constraint.canonical, within: demand.within, scope: demand.scope))
        case .limit, .redact, .audit: self
        }
    }

    fileprivate var services: [PolicyText] {
        if case .require(let demand) = self { demand.constraint.services } else { [] }
    }
}

extension PolicyConstraint {
    fileprivate var services: [PolicyText] {
        switch self {
        case .factor: []
        case .pam(let service, _): [service]
        case .any(let children), .all(let children), .atLeast(_, let children):
            children.flatMap(\.services)
        }
    }
}

extension [PolicyCondition] {
    fileprivate func literals(of field: TextField) -> [PolicyText] {
        filter { $0.isText(field) }.flatMap(\.patterns).compactMap {
            if case .literal(let text) = $0 { text } else { nil }
        }
    }
}

extension PolicyBox {
    /// False only where no request can be in both.
    fileprivate func mayMeet(_ other: PolicyBox) -> Bool {
        guard !operations.isDisjoint(with: other.operations) else { return false }
        return conditions.allSatisfy { own in
            other.conditions.allSatisfy { own.mayMeet($0) }
        }
    }
}

extension PolicyCondition {
    fileprivate func mayMeet(_ other: PolicyCondition) -> Bool {
        switch (self, other) {
        case (.choice(let a, let own), .choice(let b, let its)): a != b || own & its != 0
        case (.boolean(let a, let own), .boolean(let b, let its)): a != b || own == its
        case (.uid(let own), .uid(let its)):
            own.contains { range in its.contains { $0.overlaps(range) } }
        case (.text(let a, let own), .text(let b, let its)):
            a != b || a == .group
                || own.contains { pattern in its.contains { pattern.mayMeet($0) } }
        default: true
        }
    }
}

extension TextPattern {
    fileprivate func mayMeet(_ other: TextPattern) -> Bool {
        switch (self, other) {
        case (.literal(let text), _): other.matches(text)
        case (_, .literal(let text)): matches(text)
        case (.prefix(let a), .prefix(let b)):
            a.string.utf8.starts(with: b.string.utf8) || b.string.utf8.starts(with: a.string.utf8)
        default: true
        }
    }
}
