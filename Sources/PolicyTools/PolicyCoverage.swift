// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
package import PolicyLanguage

/// How much of a set its tests have seen.
package struct PolicyCoverage: Sendable {
    package struct Rule: Sendable {
        package let id: PolicyText
        package let origin: PolicyOrigin
        /// Some test meets it.
        package internal(set) var isCovered = false
        /// The fields of the rule, each with whether a test saw it decide against the rule while
        /// all others were met.
        package internal(set) var conditions: [(name: String, isDecisive: Bool)]

        /// A condition was seen true where the rule was met, and false where it decided.
        package var coveredConditions: Int {
            isCovered ? conditions.count { $0.isDecisive } : 0
        }
    }

    package private(set) var rules: [Rule] = []

    package init(_ loaded: LoadedPolicies) {
        let statements = loaded.policy.statements
        var places: [PolicyText: Int] = [:]
        for (place, statement) in statements.enumerated() {
            places[statement.id] = place
            rules.append(
                Rule(
                    id: statement.id, origin: statement.origin,
                    conditions: statement.match.parts.map { ($0.name, false) }))
        }
        for file in loaded.files where !file.tests.isEmpty {
            let policy = loaded.policy(forTestsOf: file)
            let evaluator = ReferenceEvaluator(policy)
            let tested = policy.statements.compactMap { statement in
                places[statement.id].map { ($0, statement, statement.match.parts.map(\.part)) }
            }
            for test in file.tests {
                for (operation, facts) in evaluator.cases(of: test.request) {
                    for (place, statement, parts) in tested {
                        rules[place].note(statement, parts, operation, facts)
                    }
                }
            }
        }
    }

    package var coveredRules: Int { rules.count { $0.isCovered } }
    package var conditionCount: Int { rules.reduce(0) { $0 + $1.conditions.count } }
    package var coveredConditions: Int { rules.reduce(0) { $0 + $1.coveredConditions } }
}

extension LoadedPolicies {
    /// The rules and scopes that some test meets: what `PolicyCoverage` finds out for each
    /// condition besides, at the cost of holding each test against each rule.
    var statementsMetByTests: Set<PolicyText> {
        var met: Set<PolicyText> = []
        for file in files where !file.tests.isEmpty {
            let policy = policy(forTestsOf: file)
            guard let compiled = try? CompiledPolicy(policy) else { continue }
            let ids = (0..<compiled.statementCount).map { compiled.provenance(of: $0)?.id }
            let unfiled = policy.statements.filter { $0.effect == .audit(.decision) }
            let evaluator = ReferenceEvaluator(policy)
            for test in file.tests {
                for number in compiled.statements(matching: test.request) {
                    if let id = ids[number] { met.insert(id) }
                }
                for (operation, facts) in evaluator.cases(of: test.request) {
                    // The engine has no use for them.
                    for statement in unfiled
                    where statement.isMet(statement.match.truth(for: operation, facts)) {
                        met.insert(statement.id)
                    }
                }
            }
        }
        return met
    }
}

/// A rule or a closed scope.
struct PolicyStatement {
    let id: PolicyText
    let origin: PolicyOrigin
    let match: PolicyMatch
    /// nil for a scope.
    let effect: PolicyEffect?

    /// Only what matches for certain grants.
    func isMet(_ truth: Truth) -> Bool {
        effect?.grants == true ? truth == .yes : truth != .no
    }
}

extension PolicySet {
    var statements: [PolicyStatement] {
        closed.map { PolicyStatement(id: $0.id, origin: $0.origin, match: $0.match, effect: nil) }
            + rules.map {
                PolicyStatement(id: $0.id, origin: $0.origin, match: $0.match, effect: $0.effect)
            }
    }
}

extension PolicyEffect {
    var grants: Bool {
        switch self {
        case .permit, .share: true
        default: false
        }
    }
}

/// One of the things that must hold for a rule to match.
enum MatchPart {
    case operations
    case condition(Int)
    case exception(Int)
}

extension PolicyMatch {
    var parts: [(part: MatchPart, name: String)] {
        (box.operations == .all ? [] : [(.operations, "operations")])
            + box.conditions.enumerated().map { (.condition($0.offset), $0.element.fieldName) }
            + exceptions.indices.map { (.exception($0), "unless[\($0)]") }
    }

    func truth(
        _ part: MatchPart, _ operation: PolicyOperation, _ facts: PolicyFacts
    ) -> Truth {
        switch part {
        case .operations: box.operations.contains(operation) ? .yes : .no
        case .condition(let place): box.conditions[place].truth(of: facts)
        case .exception(let place):
            switch exceptions[place].truth(for: operation, facts) {
            case .yes: .no
            case .unknown: .unknown
            case .no: .yes
            }
        }
    }
}

extension PolicyCoverage.Rule {
    fileprivate mutating func note(
        _ statement: PolicyStatement, _ parts: [MatchPart], _ operation: PolicyOperation,
        _ facts: PolicyFacts
    ) {
        var failing: Int?
        for (place, part) in parts.enumerated()
        where !statement.isMet(statement.match.truth(part, operation, facts)) {
            // Where two fail, neither decides.
            guard failing == nil else { return }
            failing = place
        }
        guard let failing else {
            isCovered = true
            return
        }
        if conditions.indices.contains(failing) { conditions[failing].isDecisive = true }
    }
}
