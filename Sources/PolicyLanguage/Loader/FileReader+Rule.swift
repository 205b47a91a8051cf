// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

/// The rule's own place, for mistakes that are something missing.
struct RuleHead {
    package let id: PolicyText
    /// The node of the id, at which missing keys are reported.
    let node: YAMLNode
    package let origin: PolicyOrigin
}

extension FileReader {
    static let effects = [
        "permit", "forbid", "share", "require", "limit", "redact", "audit",
    ]
    private static let ruleKeys =
        ["id", "description", "tags", "replaces", "mode", "expires", "within", "scope"] + period
        + effects + Vocabulary.match
    private static let scopeKeys =
        ["id", "description", "mode", "expires"] + period + Vocabulary.match
    /// The keys of the first and the last day on which a statement applies.
    static let period = ["from", "until"]

    mutating func rule(_ node: YAMLNode) -> LoadedRule? {
        guard let keys = mapping(node, "a rule", keys: Self.ruleKeys),
            let head = self.head(keys, "a rule")
        else { return nil }
        let effects = keys.entries.filter { Self.effects.contains($0.key) }
        guard effects.count == 1, let effectEntry = effects.first else {
            noteEffectCount(effects, keys, head)
            return nil
        }
        var match = self.match(keys, isLimit: effectEntry.key == "limit")
        match.box.conditions += days(keys)
        let effect = self.effect(effectEntry, keys, head)
        let mode = self.mode(keys, head)
        let replaces = keys["replaces"].flatMap { identifier($0, "replaces") }
        let description = keys["description"].flatMap { text($0, "description") }
        let tags = keys["tags"].map { texts($0, "tags").map(\.text) } ?? []
        guard let effect, let mode else { return nil }
        let rule = PolicyRule(
            id: head.id, origin: head.origin, description: description, tags: tags,
            replaces: replaces.map { PolicyText($0) }, mode: mode, effect: effect, match: match)
        checkGrant(rule, keys, head)
        checkFreshness(rule, keys)
        return LoadedRule(rule: rule, replacesPlace: keys["replaces"]?.place)
    }

    mutating func head(_ keys: Keys, _ what: String) -> RuleHead? {
        guard let node = keys["id"] else {
            note(.missingKey, keys.node, "\(what) without \"id\"", advice: "add id: NAME")
            return nil
        }
        return identifier(node, "the id").map {
            RuleHead(id: PolicyText($0), node: node, origin: origin(node))
        }
    }

    private mutating func noteEffectCount(
        _ effects: [YAMLEntry], _ keys: Keys, _ head: RuleHead
    ) {
        // An unknown key, which was already reported, may have been meant as the effect.
        if effects.isEmpty, keys.hasUnknown { return }
        if effects.count > 1 {
            note(
                .effectCount, effects[1],
                "a second effect: \"\(effects[0].key)\" and \"\(effects[1].key)\"",
                advice: "a rule has one effect; write two rules")
        } else {
            note(
                .effectCount, head.node, "rule \(head.id) has no effect",
                advice: "add one of: " + Self.effects.joined(separator: ", "))
        }
    }

    // MARK: Effects

    private mutating func effect(
        _ entry: YAMLEntry, _ keys: Keys, _ head: RuleHead
    ) -> PolicyEffect? {
        if entry.key != "require" {
            for key in ["within", "scope"] {
                guard let extra = keys.entry(key) else { continue }
                note(
                    .unknownKey, extra, "\"\(key)\" stands in a rule without \"require\"",
                    advice: "remove it")
            }
        }
        switch entry.key {
        case "permit": return reason(entry).map { .permit($0) }
        case "forbid": return reason(entry).map { .forbid($0) }
        case "share": return reason(entry).map { .share($0) }
        case "require": return demand(entry.value, keys).map { .require($0) }
        case "limit": return limit(entry.value, head).map { .limit($0) }
        case "redact":
            let names = redacted(entry.value)
            return names.isEmpty ? nil : .redact(names)
        case "audit": return audit(entry.value).map { .audit($0) }
        default: return nil
        }
    }

    /// Reads the text for people; warns of text that looks like a condition, as it decides nothing.
    private mutating func reason(_ entry: YAMLEntry) -> String? {
        let text = self.text(entry.value, "the reason")
        let advice: String? =
            switch text {
            case "false": "remove the rule: as it stands, it counts"
            case "true": "write why; it is shown to users"
            case let word? where Vocabulary.operations.contains(word):
                "write operations: \(word), and the reason here"
            default: nil
            }
        if let text, let advice {
            note(
                .reasonIsNoText, entry.value,
                "\"\(text)\" is the reason of this \(entry.key), and no condition",
                advice: advice)
        }
        return text
    }

    private mutating func audit(_ node: YAMLNode) -> AuditLevel? {
        if node.scalar == "none" {
            note(
                .unknownWord, node, "a decision can't be left out of the audit",
                advice: "decision or full")
            return nil
        }
        return word(node, "audit level", of: ["decision", "full"])
            .map { $0 == "full" ? .full : .decision }
    }

    private mutating func demand(_ node: YAMLNode, _ keys: Keys) -> PolicyDemand? {
        let constraint = self.constraint(node)
        let within = keys["within"].map { duration($0, "within") } ?? .zero
        let scope = keys["scope"].map { freshness($0) } ?? .context
        guard let constraint, let within, let scope else { return nil }
        return PolicyDemand(constraint, within: within, scope: scope)
    }

    mutating func freshness(_ node: YAMLNode) -> Freshness? {
        word(node, "scope", of: Freshness.allCases.map(\.word)).flatMap { Freshness(word: $0) }
    }

    static let limitKeys =
        ["user", "group", "uid", "exe", "unit", "slice", "user-unit", "app", "label", "session"]
        + ["keychain", "service", "account", "server", "access-group"]

    private mutating func limit(_ node: YAMLNode, _ head: RuleHead) -> PolicyLimit? {
        let known = ["rate", "by", "then", "require"]
        guard let keys = mapping(node, "limit", keys: known) else { return nil }
        for key in ["rate", "by", "then"] where keys[key] == nil {
            note(
                .missingKey, head.node, "limit \(head.id) without \"\(key)\"",
                advice: "as {rate: 30/1m, by: [user], then: deny}")
        }
        guard let rateNode = keys["rate"], let byNode = keys["by"], let thenNode = keys["then"]
        else { return nil }
        let rate = self.rate(rateNode)
        let by = words(byNode, "key of a limit", of: Self.limitKeys).map { PolicyText($0) }
        let then = exhausted(thenNode, keys, head)
        guard let rate, let then, !by.isEmpty else { return nil }
        return PolicyLimit(rate.count, per: rate.per, by: by, then: then)
    }

    private mutating func rate(_ node: YAMLNode) -> (count: UInt32, per: PolicyDuration)? {
        guard let text = self.text(node, "rate") else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Self.number(String(parts[0])), count > 0,
            let per = PolicyDuration(String(parts[1])), per > .zero
        else {
            note(
                .badRate, node, "\"\(text)\" is no rate",
                advice: "a number from 1, \"/\" and a duration above 0, as 30/1m")
            return nil
        }
        return (count, per)
    }

    private mutating func exhausted(
        _ node: YAMLNode, _ keys: Keys, _ head: RuleHead
    ) -> PolicyLimit.Exhausted? {
        let then = word(node, "end of a limit", of: ["deny", "require"])
        if then == "deny", let extra = keys.entry("require") {
            note(.unknownKey, extra, "\"require\" in a limit that denies", advice: "remove it")
        }
        guard then == "require" else { return then.map { _ in .deny } }
        guard let constraint = keys["require"] else {
            note(
                .missingKey, head.node, "limit \(head.id) requires, and does not say what",
                advice: "add require: CONSTRAINT")
            return nil
        }
        return self.constraint(constraint).map { .require($0) }
    }

    // MARK: Mode

    static let longestComplaint: Int32 = 90

    mutating func mode(_ keys: Keys, _ head: RuleHead) -> PolicyMode? {
        let mode = keys["mode"].map { word($0, "mode", of: ["enforce", "complain"]) } ?? "enforce"
        guard mode == "complain" else {
            if mode != nil, let expires = keys.entry("expires") {
                note(
                    .expiryWithoutComplain, expires, "\"expires\" in a rule that is enforced",
                    advice: "it ends mode: complain; a rule ends with until: YYYY-MM-DD")
            }
            return mode.map { _ in .enforce }
        }
        guard let node = keys["expires"] else {
            note(
                .complainWithoutExpiry, head.node, "\(head.id) complains without an end",
                advice: "add expires: YYYY-MM-DD")
            return nil
        }
        return date(node, "expires").flatMap { complain(until: $0, node) }
    }

    private mutating func complain(until day: Int32, _ node: YAMLNode) -> PolicyMode? {
        guard day - today <= Self.longestComplaint else {
            note(
                .complainTooLong, node, "complaining for \(day - today) days",
                advice: "at most \(Self.longestComplaint)")
            return nil
        }
        return .permissive(untilDay: day)
    }

    mutating func date(_ node: YAMLNode, _ what: String) -> Int32? {
        anyDate(node, what).flatMap { self.namable($0, node, what) }
    }

    /// The day; reports one outside the years that policies may name.
    mutating func namable(_ day: Int32, _ node: YAMLNode, _ what: String) -> Int32? {
        let years = CalendarDay.years
        guard years.contains(CalendarDay.year(of: day)) else {
            note(
                .badDate, node,
                "\(what) \(CalendarDay.text(of: day)) is not in the years \(years.lowerBound) to \(years.upperBound)",
                advice: Self.period.contains(what)
                    ? "leave it out where there is no such bound" : nil)
            return nil
        }
        return day
    }

    mutating func anyDate(_ node: YAMLNode, _ what: String) -> Int32? {
        guard let text = self.text(node, what) else { return nil }
        if let day = CalendarDay.number(of: text) { return day }
        note(.badDate, node, "\(what) \"\(text)\" is no date", advice: "YYYY-MM-DD")
        return nil
    }

    /// The days on which a statement applies, as a condition beside its others.
    mutating func days(_ keys: Keys) -> [PolicyCondition] {
        let ends = Self.period.map { key in keys[key].flatMap { date($0, key) } }
        let (first, last) = (ends[0] ?? .min, ends[1] ?? .max)
        if let node = keys["until"], first > last {
            note(
                .badDate, node,
                "until \(CalendarDay.text(of: last)) is before from \(CalendarDay.text(of: first))",
                advice: "both days count, so until is the same day or a later one")
            return []
        }
        return ends == [nil, nil] ? [] : [.date(first...last)]
    }

    // MARK: Scopes

    mutating func closedScope(_ node: YAMLNode) -> ClosedScope? {
        guard let keys = mapping(node, "a closed scope", keys: Self.scopeKeys),
            let head = self.head(keys, "a closed scope")
        else { return nil }
        var match = self.match(keys)
        match.box.conditions += days(keys)
        return mode(keys, head).map {
            ClosedScope(id: head.id, origin: head.origin, mode: $0, match: match)
        }
    }
}
