// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// How much of a set its tests have seen.
public struct PolicyCoverage: Sendable {
    public struct Rule: Sendable {
        public let id: PolicyText
        public let origin: PolicyOrigin
        /// Some test meets it.
        public internal(set) var isCovered = false
        /// The fields of the rule, each with whether a test saw it decide against the rule while
        /// all others were met.
        public internal(set) var conditions: [(name: String, isDecisive: Bool)]

        /// A condition was seen true where the rule was met, and false where it decided.
        public var coveredConditions: Int {
            isCovered ? conditions.count { $0.isDecisive } : 0
        }
    }

    public private(set) var rules: [Rule] = []

    public init(_ loaded: LoadedPolicies) {
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
            let tested = policy.statements
            for test in file.tests {
                for (operation, facts) in evaluator.cases(of: test.request) {
                    for statement in tested {
                        guard let place = places[statement.id] else { continue }
                        rules[place].note(statement, operation, facts)
                    }
                }
            }
        }
    }

    public var coveredRules: Int { rules.count { $0.isCovered } }
    public var conditionCount: Int { rules.reduce(0) { $0 + $1.conditions.count } }
    public var coveredConditions: Int { rules.reduce(0) { $0 + $1.coveredConditions } }
}

/// A rule or a closed scope.
struct PolicyStatement {
    let id: PolicyText
    let origin: PolicyOrigin
    let match: PolicyMatch
    /// Only what matches for certain grants.
    let grants: Bool

    func isMet(_ truth: Truth) -> Bool { grants ? truth == .yes : truth != .no }
}

extension PolicySet {
    var statements: [PolicyStatement] {
        closed.map { PolicyStatement(id: $0.id, origin: $0.origin, match: $0.match, grants: false) }
            + rules.map {
                PolicyStatement(
                    id: $0.id, origin: $0.origin, match: $0.match, grants: $0.effect.grants)
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
        _ statement: PolicyStatement, _ operation: PolicyOperation, _ facts: PolicyFacts
    ) {
        let failing = statement.match.parts.indices.filter { place in
            let part = statement.match.parts[place].part
            return !statement.isMet(statement.match.truth(part, operation, facts))
        }
        if failing.isEmpty { isCovered = true }
        if failing.count == 1, let only = failing.first, conditions.indices.contains(only) {
            conditions[only].isDecisive = true
        }
    }
}
