// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import PolicyAnalysis
package import PolicyLanguage
internal import PolicyRequestSpace
package import PolicySyntax

/// Statements of a set that are probably not meant so.
package struct PolicyLint: Sendable {
    /// A name in a policy that a machine may lack.
    package enum Name: Sendable, Hashable {
        case unit(String)
        case group(String)
        case user(String)
        case program(String)
        case service(String)
    }

    /// A request that meets more rules than this takes longer than it should.
    static let candidateBudget = 2_000

    package private(set) var diagnostics: [Diagnostic] = []
    private let files: [PolicyText: PolicyFile]

    /// `today` is the local date in days since 1970-01-01; `machine` tells whether the machine has
    /// the name, nil skips that check.
    package init(
        _ loaded: LoadedPolicies, today: Int32, on machine: ((Name) -> Bool)? = nil
    ) {
        files = Dictionary(
            loaded.files.map { (PolicyText($0.source.path), $0) }, uniquingKeysWith: { $1 })
        checkRules(loaded.policy, today)
        checkReach(loaded.policy, today)
        checkPrograms(loaded.policy)
        checkTests(loaded)
        checkSpeed(loaded)
        if let machine { checkNames(loaded.policy, machine) }
        diagnostics = Array(Set(diagnostics)).sorted()
    }

    /// The findings that are certainly mistakes: rules without an effect, or that refuse
    /// everything.
    package init(forCheckOf loaded: LoadedPolicies, today: Int32) {
        files = Dictionary(
            loaded.files.map { (PolicyText($0.source.path), $0) }, uniquingKeysWith: { $1 })
        checkRules(loaded.policy, today)
        checkReach(loaded.policy, today)
        let certain: Set<DiagnosticCode> = [.dead, .permitOutsideClosed, .forbidsAll]
        diagnostics = Array(Set(diagnostics.filter { certain.contains($0.code) })).sorted()
    }

    private mutating func note(
        _ code: DiagnosticCode, _ id: PolicyText, _ origin: PolicyOrigin, _ message: String,
        advice: String? = nil, notes: [String] = []
    ) {
        guard let file = files[PolicyText(origin.file)] else { return }
        diagnostics.append(
            file.diagnostic(code, at: origin, id.string, message, advice: advice, notes: notes))
    }

    // MARK: Rules

    private mutating func checkRules(_ policy: PolicySet, _ today: Int32) {
        var pairs: Set<Set<PolicyText>> = []
        for (rule, first) in Self.duplicates(policy) {
            pairs.insert([rule.id, first.id])
            note(
                .duplicateRule, rule.id, rule.origin, "rule \(rule.id) says what another says",
                notes: ["\(first.id) (\(first.origin.file):\(first.origin.line))"])
        }
        let places = policy.places
        let rules = Dictionary(policy.rules.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let over = policy.over(on: today)
        for statement in over {
            note(
                .over, statement.id, statement.origin,
                "\(statement.id) ended on \(CalendarDay.text(of: statement.lastDay))",
                advice: "remove it, or change until")
        }
        let isOver = Set(over.map(\.id))
        for finding in PolicyAnalysis(policy, day: today).findings()
        where !isOver.contains(finding.id) {
            // Two equal rules were reported already.
            guard !pairs.contains(Set(finding.by + [finding.id])) else { continue }
            let places = finding.by.compactMap { places[$0] }.joined(separator: ", ")
            let foreign = rules[finding.id]?.match.box.foreignField
            note(
                finding.kind.code, finding.id, finding.origin, finding.message,
                notes: [foreign, places.isEmpty ? nil : finding.kind.reason + places]
                    .compactMap(\.self))
        }
    }

    private mutating func checkReach(_ policy: PolicySet, _ today: Int32) {
        for rule in policy.rules where rule.match == PolicyMatch(PolicyBox()) {
            guard case .forbid = rule.effect, rule.mode.enforces(on: today) else { continue }
            note(
                .forbidsAll, rule.id, rule.origin,
                "\(rule.id) refuses every request of every program",
                advice: "name operations, a subject, a resource or when")
        }
    }

    /// Reports grants to a program that another program of the same user can take over: they open
    /// the items to all of that user's programs.
    private mutating func checkPrograms(_ policy: PolicySet) {
        for rule in policy.rules
        where rule.effect.grants && !rule.tags.contains("same-user")
            && rule.match.box.conditions.programNaming == .weak
        {
            noteWeak(rule.id, rule.origin, "; or add tags: [same-user] where this is meant")
        }
        for group in policy.groups {
            let isWeak = group.members.contains { $0.programNaming == .weak }
            if isWeak { noteWeak(group.id, group.origin, "") }
        }
    }

    private mutating func noteWeak(_ id: PolicyText, _ origin: PolicyOrigin, _ other: String) {
        note(
            .weakProgram, id, origin,
            "\(id) names a program that another one of the same user can take over",
            advice: "name a unit, app or SELinux label instead\(other)",
            notes: ["LD_PRELOAD and ptrace(2) let it, trusted-exe: true or not"])
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

    private mutating func checkTests(_ loaded: LoadedPolicies) {
        let met = loaded.statementsMetByTests
        let all =
            loaded.policy.statements.map { ($0.id, $0.origin) }
            + loaded.policy.groups.map { ($0.id, $0.origin) }
        for (id, origin) in all where !met.contains(id) {
            note(.untested, id, origin, "no test meets \(id)")
        }
    }

    private mutating func checkSpeed(_ loaded: LoadedPolicies) {
        let most = PolicyDecider(loaded.policy).mostCandidates
        guard most > Self.candidateBudget, let file = loaded.files.first else { return }
        diagnostics.append(
            Diagnostic(
                .slow, path: file.source.path,
                "a request can meet \(most) candidate rules, more than \(Self.candidateBudget)",
                advice: "name a service, program, app, unit or access group in each rule"))
    }

    // MARK: The machine

    private mutating func checkNames(_ policy: PolicySet, _ machine: (Name) -> Bool) {
        let matches =
            policy.statements.map { ($0.id, $0.origin, $0.match) }
            + policy.groups.flatMap { group in
                group.members.map { (group.id, group.origin, PolicyMatch(PolicyBox($0))) }
            }
        for (id, origin, match) in matches {
            for (field, what, name) in Self.named {
                for text in match.literals(of: field) where !machine(name(text.string)) {
                    note(
                        .unknownName, id, origin,
                        "\(id) names the \(what) \(text), which this machine lacks")
                }
            }
        }
        for rule in policy.rules {
            for name in rule.effect.approvers where !machine(.user(name.string)) {
                note(
                    .unknownName, rule.id, rule.origin,
                    "\(rule.id) has the user \(name) approve, which this machine lacks")
            }
            for service in rule.effect.services where !machine(.service(service.string)) {
                note(
                    .unconfiguredService, rule.id, rule.origin,
                    "\(rule.id) needs the PAM service \(service), which this machine lacks",
                    advice: "add /etc/pam.d/\(service)")
            }
        }
    }

    private static let named: [(field: TextField, what: String, name: @Sendable (String) -> Name)] =
        [
            (.unit, "unit", { .unit($0) }), (.group, "group", { .group($0) }),
            (.user, "user", { .user($0) }), (.exe, "program", { .program($0) }),
        ]
}

extension PolicySet {
    /// The statements that have ended before the day.
    fileprivate func over(
        on day: Int32
    ) -> [(id: PolicyText, origin: PolicyOrigin, lastDay: Int32)] {
        let boxes =
            rules.map { ($0.id, $0.origin, $0.match.box.conditions) }
            + closed.map { ($0.id, $0.origin, $0.match.box.conditions) }
            + groups.map { ($0.id, $0.origin, $0.members.first ?? []) }
        return boxes.compactMap { id, origin, conditions in
            conditions.lastDay.flatMap { $0 < day ? (id, origin, $0) : nil }
        }
    }
}

extension [PolicyCondition] {
    fileprivate var lastDay: Int32? {
        for case .date(let days) in self where days.upperBound < .max { return days.upperBound }
        return nil
    }
}

extension PolicyBox {
    /// A field that none of the box's operations has, in words; nil if there is none.
    fileprivate var foreignField: String? {
        let foreign = conditions.first { condition in
            condition.operations.isDisjoint(with: operations)
                && condition.truth(of: PolicyFacts()) != .yes
        }
        return foreign.map { condition in
            let known = PolicyOperation.allCases.filter(condition.operations.contains)
                .map(\.rawValue)
            return "\(condition.fieldName) is known of \(known.joined(separator: ", ")) only"
        }
    }
}

extension PolicyEffect {
    fileprivate var approvers: [PolicyText] {
        if case .require(let demand) = self { demand.constraint.approvers } else { [] }
    }

    fileprivate var services: [PolicyText] {
        if case .require(let demand) = self { demand.constraint.services } else { [] }
    }
}

extension PolicyConstraint {
    fileprivate var services: [PolicyText] {
        switch self {
        case .factor: []
        case .pam(let service, _):
            [service.approver == nil ? service : PolicyText(PolicyMethod.approvalService)]
        case .any(let children), .all(let children), .atLeast(_, let children):
            children.flatMap(\.services)
        }
    }
}

extension PolicyMatch {
    /// The texts of the field in the rule and its exceptions.
    fileprivate func literals(of field: TextField) -> [PolicyText] {
        ([box] + exceptions).flatMap(\.conditions).filter { $0.isText(field) }
            .flatMap(\.patterns).compactMap {
                if case .literal(let text) = $0 { text } else { nil }
            }
    }
}
