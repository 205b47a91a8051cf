// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicyLanguage
internal import PolicyRequestSpace

/// The smallest rules that would let refused requests through, or requests that rules on trial
/// would refuse. A person reads them and chooses; none is put in force.
package struct PolicySuggestion: Sendable {
    /// A file of policies; empty where there is no suggestion.
    package private(set) var text = ""
    private var drafts: [Draft] = []
    /// The requests that no rule could let through, in words.
    private var others: [String] = []

    /// `refused` were refused; rules on trial would have refused `onTrial`.
    package init(
        _ refused: [PolicyRequest], onTrial: [PolicyRequest] = [], under policy: PolicySet,
        day: Int32
    ) {
        var earnest = policy
        for place in earnest.rules.indices { earnest.rules[place].mode = .enforce }
        for place in earnest.closed.indices { earnest.closed[place].mode = .enforce }
        add(refused, under: policy, day)
        add(onTrial, under: earnest, day)
        write(earnest, day)
    }

    private mutating func add(
        _ requests: [PolicyRequest], under policy: PolicySet, _ day: Int32
    ) {
        let evaluator = ReferenceEvaluator(policy)
        for request in requests {
            let decision = evaluator.decide(request)
            let cases = evaluator.cases(of: request)
            guard decision.outcome == .deny else { continue }
            switch Explanation.Denial(decision, cases, policy, day) {
            case .closed: add(request, "permit")
            case .unreached: add(request, "share")
            case .never: note("An item's own access control refuses; no policy changes that.")
            case nil: noteForbids(decision.because, request)
            }
        }
    }

    private mutating func add(_ request: PolicyRequest, _ effect: String) {
        let operation = PolicyOperations(request.operation)
        guard !Draft.readsAsPattern(request.facts) else {
            note("A name with a * in it was refused: a rule would take it for a pattern.")
            return
        }
        guard let draft = Draft(request.facts, effect, operation) else {
            note("A program that could not be identified was refused; no rule can name it.")
            return
        }
        if let place = drafts.firstIndex(where: { $0.isLike(draft) }) {
            drafts[place].operations.formUnion(operation)
        } else {
            drafts.append(draft)
        }
    }

    private mutating func noteForbids(_ ids: [PolicyText], _ request: PolicyRequest) {
        let names = ids.map(\.string).joined(separator: ", ")
        guard !Draft.readsAsPattern(request.facts),
            let subject = Draft.subject(request.facts)?.words
        else { return }
        note("Nothing overrules \(names). It would have to say: unless: [{subject: {\(subject)}}]")
    }

    private mutating func note(_ words: String) {
        if !others.contains(words) { others.append(words) }
    }

    private mutating func write(_ policy: PolicySet, _ day: Int32) {
        guard !drafts.isEmpty || !others.isEmpty else { return }
        var lines = others.map { "# " + $0 }
        if !drafts.isEmpty { lines += ["policy: v1", "name: suggested", "rules:"] }
        for (number, draft) in drafts.enumerated() {
            lines += draft.lines(id: "suggested.\(number + 1)", under: policy, day)
        }
        text = lines.joined(separator: "\n") + "\n"
    }
}

/// One suggested rule.
private struct Draft {
    let effect: String
    var operations: PolicyOperations
    let subject: (conditions: [PolicyCondition], words: String, isWeak: Bool)
    let item: [PolicyCondition]
    let itemWords: String
    let isNameless: Bool

    private static let itemFields = [
        TextField.keychain, .accessGroup, .service, .server, .schema,
    ]

    /// Whether one of the names that a suggested rule would have is read as a pattern there: it would
    /// open more than the request asked for.
    static func readsAsPattern(_ facts: PolicyFacts) -> Bool {
        ([TextField.unit, .app, .user, .exe] + itemFields).contains { field in
            guard case .known(let texts) = facts[field] else { return false }
            return texts.contains { $0.string.contains("*") }
        }
    }

    /// nil for an unknown program, and for a share of an unknown group.
    init?(_ facts: PolicyFacts, _ effect: String, _ operations: PolicyOperations) {
        guard let subject = Self.subject(facts) else { return nil }
        self.effect = effect
        self.operations = operations
        self.subject = subject
        var item: [PolicyCondition] = []
        var words: [String] = []
        if case .known(let number) = facts[.itemClass],
            ChoiceField.itemClass.words.indices.contains(Int(number))
        {
            item.append(.choice(.itemClass, mask: 1 << number))
            words.append("class: " + ChoiceField.itemClass.words[Int(number)])
        }
        for field in Self.itemFields {
            guard case .known(let texts) = facts[field], let text = texts.first else { continue }
            item.append(.text(field, [.literal(text)]))
            words.append("\(field.name): \(JSONText(text.string))")
        }
        if effect == "share", !item.contains(where: { $0.isText(.accessGroup) }) { return nil }
        self.item = item
        itemWords = words.joined(separator: ", ")
        isNameless = TextField.itemNames.contains { facts[$0] == .unknown }
    }

    /// The strongest known condition on the program.
    static func subject(
        _ facts: PolicyFacts
    ) -> (conditions: [PolicyCondition], words: String, isWeak: Bool)? {
        func known(_ field: TextField) -> PolicyText? {
            if case .known(let texts) = facts[field] { texts.first } else { nil }
        }
        func part(_ field: TextField, _ text: PolicyText) -> (PolicyCondition, String) {
            (.text(field, [.literal(text)]), "\(field.name): \(JSONText(text.string))")
        }
        for field in [TextField.unit, .app] {
            guard let text = known(field) else { continue }
            let (condition, words) = part(field, text)
            return ([condition], words, false)
        }
        guard let user = known(.user), let exe = known(.exe) else { return nil }
        var parts = [part(.user, user), part(.exe, exe)]
        if facts[.trustedExe] == .known(true) {
            parts.append((.boolean(.trustedExe, true), "trusted-exe: true"))
        }
        return (parts.map(\.0), parts.map(\.1).joined(separator: ", "), true)
    }

    func isLike(_ other: Draft) -> Bool {
        effect == other.effect && subject.words == other.subject.words
            && itemWords == other.itemWords
    }

    private func rule(_ id: String) -> PolicyRule {
        PolicyRule(
            id: PolicyText(id), origin: PolicyOrigin(file: "", line: 1, column: 1, level: 9),
            effect: effect == "permit" ? .permit("") : .share(""),
            match: PolicyMatch(PolicyBox(operations: operations, subject.conditions + item)))
    }

    /// The rule, with the accesses it would open in a comment above it.
    func lines(id: String, under policy: PolicySet, _ day: Int32) -> [String] {
        var wider = policy
        wider.rules.append(rule(id))
        let found = PolicyAnalysis(policy, day: day).difference(to: wider)
        var lines = found.changes.filter { $0.isNewAccess || $0.needsLess }.flatMap { change in
            let shown = change.areas.prefix([RequestArea].mostShown)
            let rest = change.areas.count - shown.count
            return shown.map { "  # opens: " + ($0.fields.isEmpty ? "everything" : $0.words) }
                + (rest > 0
                    ? ["  # opens: and \(rest) more such areas; policy diff tells all"] : [])
        }
        if !found.isComplete { lines.append("  # opens more, perhaps: it was not decided in time") }
        if subject.isWeak {
            lines.append("  # weak: another program of the user can pass for this one")
        }
        if isNameless {
            lines.append(
                "  # wide: the record does not say which item it was; audit: full would tell")
        }
        let words = PolicyOperation.allCases.filter { operations.contains($0) }.map(\.rawValue)
        lines += [
            "  - id: \(id)",
            "    \(effect): It was asked for and refused.",
            "    operations: [\(words.joined(separator: ", "))]",
            "    subject: {\(subject.words)}",
        ]
        if !itemWords.isEmpty { lines.append("    resource: {\(itemWords)}") }
        return lines
    }
}
