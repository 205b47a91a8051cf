// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// The source of a statement of a compiled policy.
public struct PolicyProvenance: Sendable, Hashable {
    public let id: PolicyText
    /// The reason that a permit, forbid or share states; else empty.
    public let reason: PolicyText
    public let origin: PolicyOrigin
}

extension CompiledPolicy {
    /// The source of the statement of that number, as in `PolicyRuling.lead`.
    public func provenance(of statement: Int) -> PolicyProvenance? {
        guard 0..<statementCount ~= statement else { return nil }
        let file = Int(image.word(.provenance, statement, 4))
        return PolicyProvenance(
            id: image.text(.provenance, statement), reason: image.text(.provenance, statement, 2),
            origin: PolicyOrigin(
                file: image.text(.files, file).string,
                line: Int(image.word(.provenance, statement, 5)),
                column: Int(image.word(.provenance, statement, 6)),
                level: Int(image.word(.provenance, statement, 7))))
    }

    /// The id of the statement of that number.
    public func id(of statement: Int) -> PolicyText? {
        0..<statementCount ~= statement ? image.text(.provenance, statement) : nil
    }

    /// The whole decision, with every id and the proofs that are needed.
    public func decision(on request: PolicyRequest) -> PolicyDecision {
        let admitted = admit(request)
        let cases = matches(admitted, [.decide, .permit, .share])
        let inForce = { (statement: Int) in enforces(statement, on: request.day) }
        var decision = decision(request, cases.map { $0.filter(inForce) })
        let wouldDecide = self.decision(request, cases).outcome
        if wouldDecide != decision.outcome {
            decision.wouldDecide =
                wouldDecide == .interactionNotAllowed ? .challenge : wouldDecide
        }
        return decision
    }

    /// How far the proofs count that the request still lacks, by the rules in force.
    package func reaches(of request: PolicyRequest) -> Set<ProofReach> {
        var reaches: Set<ProofReach> = []
        for matches in matches(admit(request), [.decide]) {
            for statement in matches.statements
            where kind(of: statement) == .require && enforces(statement, on: request.day) {
                let demand = image.demand(Int(image.word(.statements, statement, 1)))
                guard !demand.isMet(by: request.evidence, for: matches.operation),
                    let reach = ProofReach(demand, for: matches.operation)
                else { continue }
                reaches.insert(reach)
            }
        }
        return reaches
    }

    /// The numbers of all rules and scopes that match, ascending, whatever their effect and whether
    /// or not they are in force.
    public func statements(matching request: PolicyRequest) -> [Int] {
        let cases = matches(admit(request), [.decide, .permit, .share, .limit])
        return Set(cases.flatMap(\.statements)).sorted()
    }

    /// The limits in force that count the request, whatever the decision on it.
    public func limits(
        on request: AdmittedRequest
    ) -> [(statement: Int, limit: PolicyLimit)] {
        let found = Set(matches(request, [.limit]).flatMap(\.statements))
        return found.sorted().filter { enforces($0, on: request.day) }
            .map { ($0, limit(Int(image.word(.statements, $0, 1)))) }
    }

    private func limit(_ number: Int) -> PolicyLimit {
        let firstKey = Int(image.word(.limits, number, 3))
        let keys = firstKey..<firstKey + Int(image.word(.limits, number, 4))
        let per = Int64(bitPattern: image.wide(.limits, number, 1))
        let demand = Int(image.word(.limits, number, 5))
        return PolicyLimit(
            image.word(.limits, number), per: PolicyDuration(milliseconds: per),
            by: keys.map { image.text(.limitKeys, $0) },
            then: demand == 0 ? .deny : .require(image.demand(demand - 1).constraint))
    }

    private func enforces(_ statement: Int, on day: Int32) -> Bool {
        let end = Int32(bitPattern: image.word(.statements, statement, 2))
        let isPermissive = image.word(.statements, statement) & Self.permissive != 0
        return !isPermissive || day >= end
    }

    /// All statements of the indices that match, for each operation on each item.
    private func matches(_ request: AdmittedRequest, _ purposes: [IndexPurpose]) -> [CaseMatches] {
        var cases = [matches(request.facts, request.operation, purposes)]
        if request.exports { cases.append(matches(request.facts, .export, purposes)) }
        for before in request.before {
            cases.append(matches(before, request.operation, purposes))
        }
        return cases
    }

    private func matches(
        _ facts: AdmittedFacts, _ operation: PolicyOperation, _ purposes: [IndexPurpose]
    ) -> CaseMatches {
        facts.words.isSpilled
            ? matches(facts, operation, purposes, facts.words.spilled.span)
            : matches(facts, operation, purposes, facts.words.inline.span)
    }

    private func matches(
        _ facts: AdmittedFacts, _ operation: PolicyOperation, _ purposes: [IndexPurpose],
        _ numbers: Span<UInt32>
    ) -> CaseMatches {
        let words = image.words.span
        let view = view(facts, operation, words, numbers)
        var matches = CaseMatches(
            operation: operation, isMember: view.isMember, isLetIn: facts.isLetIn)
        for purpose in purposes {
            guard let root = image.root(purpose) else { continue }
            let view = purpose.grants ? view.granting : view
            traversal.visit(node: root, view, words, numbers, &matches)
        }
        return matches
    }

    private func decision(_ request: PolicyRequest, _ cases: [CaseMatches]) -> PolicyDecision {
        func ids(_ statements: (CaseMatches) -> Set<Int>) -> [PolicyText] {
            let numbers = cases.reduce(into: Set<Int>()) { $0.formUnion(statements($1)) }
            return Set(numbers.map { image.text(.provenance, $0) }).sorted()
        }
        func statements(_ kind: StatementKind, _ matches: CaseMatches) -> Set<Int> {
            matches.statements.filter { self.kind(of: $0) == kind }
        }
        func isOpen(_ matches: CaseMatches) -> Bool {
            statements(.closed, matches).isEmpty || !statements(.permit, matches).isEmpty
        }
        func supporting(_ matches: CaseMatches) -> Set<Int> {
            var found = statements(.require, matches)
            if !statements(.closed, matches).isEmpty {
                found.formUnion(statements(.permit, matches))
            }
            if !matches.isMember { found.formUnion(statements(.share, matches)) }
            return found
        }
        var decision = PolicyDecision(outcome: .deny)
        for matches in cases {
            if !statements(.audit, matches).isEmpty { decision.audit = .full }
        }
        decision.redacted = attributes(
            cases.flatMap { statements(.redact, $0) }.reduce(0) {
                $0 | image.wide(.redactions, Int(image.word(.statements, $1, 1)))
            })
        let forbids = ids { statements(.forbid, $0) }
        if !forbids.isEmpty {
            decision.because = forbids
        } else if !cases.allSatisfy({
            $0.isMember || $0.isLetIn || !statements(.share, $0).isEmpty
        }) {
            decision.because = []
        } else if !cases.allSatisfy(isOpen) {
            decision.because = ids { isOpen($0) ? [] : statements(.closed, $0) }
        } else if !request.cases.contains(where: { $0.facts.constraint == .never }) {
            decision.because = ids(supporting)
            conclude(&decision, request, needs(request, cases))
        }
        return decision
    }

    private func conclude(
        _ decision: inout PolicyDecision, _ request: PolicyRequest, _ needs: [PolicyConstraint]
    ) {
        guard !needs.isEmpty else {
            decision.outcome = .allow
            return
        }
        let asks = request.facts.isTrue(.interactive)
        decision.outcome = asks ? .challenge : .interactionNotAllowed
        decision.requires = PolicyConstraint.all(needs).canonical
    }

    private func needs(_ request: PolicyRequest, _ cases: [CaseMatches]) -> [PolicyConstraint] {
        var demands = request.cases.compactMap { own in
            own.facts.constraint.demand.map { ($0, own.operation) }
        }
        for matches in cases {
            for statement in matches.statements where kind(of: statement) == .require {
                let number = Int(image.word(.statements, statement, 1))
                demands.append((image.demand(number), matches.operation))
            }
        }
        return demands.filter { !$0.isMet(by: request.evidence, for: $1) }.map(\.0.constraint)
    }

    /// Set in the first word of a permissive statement.
    package static let permissive: UInt32 = 1 << 8

    private func kind(of statement: Int) -> StatementKind? {
        StatementKind(rawValue: image.word(.statements, statement) & 0xFF)
    }
}

/// The statements that match one operation on one item.
private struct CaseMatches: CandidateSink {
    let operation: PolicyOperation
    let isMember: Bool
    let isLetIn: Bool
    var statements: Set<Int> = []

    func wants(_ head: EntryHead) -> Bool { true }

    mutating func take(
        _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
    ) { statements.insert(Int(head.statement)) }

    func filter(_ isIncluded: (Int) -> Bool) -> CaseMatches {
        var kept = self
        kept.statements = statements.filter(isIncluded)
        return kept
    }
}
