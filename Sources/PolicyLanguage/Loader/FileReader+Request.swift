// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicySyntax

/// The names in a request.
enum RequestKeys {
    static let all = [
        "operation", "subject", "resource", "when", "evidence", "interactive", "at", "before",
    ]
    static let subject = ["uid"] + Vocabulary.fields(.subject)
    static let resource = ["flags", "constraint"] + Vocabulary.fields(.resource)
    static let environment = ["time", "date"] + Vocabulary.fields(.environment)
    static let blocks = [
        (name: "subject", fields: subject), (name: "resource", fields: resource),
        (name: "when", fields: environment),
    ]
}

/// Reads requests: in tests, and as lines of JSON.
extension FileReader {
    /// The value of a fact that could not be established.
    private static let unknown = "unknown!"

    package mutating func request(_ node: YAMLNode) -> PolicyRequest? {
        guard let keys = mapping(node, "a request", keys: RequestKeys.all) else { return nil }
        guard let operationNode = keys["operation"] else {
            note(.missingKey, node, "a request without \"operation\"", advice: "add it")
            return nil
        }
        let known = PolicyOperation.allCases.map(\.rawValue)
        let operation = word(operationNode, "operation", of: known)
            .flatMap { PolicyOperation(rawValue: $0) }
        let moment = keys["at"].flatMap { self.moment($0) }
        let told = keys["when"]?["date"]?.scalar.flatMap { CalendarDay.number(of: $0) }
        let day = moment?.day ?? told ?? today
        var facts = PolicyFacts()
        facts.time = moment?.time ?? .absent
        facts.date = moment.map { .known($0.day) } ?? .absent
        if let node = keys["subject"] {
            read(node, "subject", .subject, RequestKeys.subject, .unknownSubjectField, &facts, day)
        }
        if let node = keys["resource"] { readItem(node, "resource", &facts, day) }
        if let node = keys["when"] {
            read(
                node, "when", .environment, RequestKeys.environment, .unknownConditionField,
                &facts, day)
        }
        if let node = keys["interactive"] { readInteractive(node, &facts) }
        settleMembership(&facts, keys["subject"]?["member"])
        guard let operation else { return nil }
        var earlier = before(keys, operation, day)
        if earlier?[.member] == .absent,
            let isOwn = earlier.flatMap({ facts.with(item: $0) })?.isOfOwnGroup
        {
            earlier?[.member] = .known(isOwn)
        }
        return PolicyRequest(
            operation, facts: facts, before: earlier,
            evidence: keys["evidence"].map { evidence($0) } ?? [], day: day)
    }

    /// A program is a member of its own group and, apart from `groups`, of no other.
    private mutating func settleMembership(_ facts: inout PolicyFacts, _ node: YAMLNode?) {
        guard let isOwn = facts.isOfOwnGroup else { return }
        if facts[.member] == .absent { facts[.member] = .known(isOwn) }
        guard let node, facts[.member] == .known(!isOwn) else { return }
        note(
            .wrongMember, node,
            isOwn
                ? "the access group is the program's own" : "the access group is another program's",
            advice: "member: \(isOwn) is what the keychain service finds; it can be left out")
    }

    private mutating func readInteractive(_ node: YAMLNode, _ facts: inout PolicyFacts) {
        let value = fact(node) { reader, node in reader.boolean(node, "interactive") }
        let other = facts[.interactive]
        guard let value else { return }
        guard other == .absent || other == value else {
            note(
                .badTest, node, "\"interactive\" and \"when.interactive\" differ",
                advice: "they are one fact; write one of them")
            return
        }
        facts[.interactive] = value
    }

    private mutating func before(
        _ keys: Keys, _ operation: PolicyOperation, _ day: Int32
    ) -> PolicyFacts? {
        guard let entry = keys.entry("before") else { return nil }
        guard operation == .update else {
            note(
                .badTest, entry, "\"before\" in a request that is no update",
                advice: "only an update has an item as it was")
            return nil
        }
        guard let block = mapping(entry.value, "before", keys: ["resource", "subject"]) else {
            return nil
        }
        var facts = PolicyFacts()
        if let node = block["resource"] { readItem(node, "resource", &facts, day) }
        if let node = block["subject"] {
            read(node, "subject", .subject, ["member"], .unknownSubjectField, &facts, day)
        }
        return facts
    }

    private mutating func readItem(
        _ node: YAMLNode, _ what: String, _ facts: inout PolicyFacts, _ day: Int32
    ) {
        read(
            node, what, .resource, RequestKeys.resource, .unknownResourceField, &facts, day)
    }

    // MARK: Facts

    private mutating func read(
        _ node: YAMLNode, _ what: String, _ block: PolicyBlock, _ known: [String],
        _ code: DiagnosticCode, _ facts: inout PolicyFacts, _ day: Int32
    ) {
        let keys = mapping(node, what, keys: known, unknown: code, keyWord: "fact")
        for entry in keys?.entries ?? [] { read(entry, block, &facts, day) }
    }

    private mutating func read(
        _ entry: YAMLEntry, _ block: PolicyBlock, _ facts: inout PolicyFacts, _ day: Int32
    ) {
        let (node, what) = (entry.value, "\(block.rawValue).\(entry.key)")
        if let field = TextField(entry.key, in: block) {
            let found = fact(node) { $0.values(of: field, $1, what) }
            if let found { facts[field] = found }
        } else if let field = ChoiceField(entry.key, in: block) {
            let found = fact(node) { reader, node in
                reader.word(node, field.name, of: field.words).flatMap { field.index(of: $0) }
            }
            if let found { facts[field] = found }
        } else if let field = BooleanField(entry.key, in: block) {
            if let found = fact(node, { $0.boolean($1, what) }) { facts[field] = found }
        } else if let field = AgeField(entry.key, in: block) {
            if let found = fact(node, { $0.duration($1, what) }) { facts[field] = found }
        } else {
            readOther(entry, &facts, day)
        }
    }

    private mutating func readOther(
        _ entry: YAMLEntry, _ facts: inout PolicyFacts, _ day: Int32
    ) {
        let node = entry.value
        switch entry.key {
        case "uid":
            let found = fact(node) { reader, node -> UInt32? in
                guard let text = reader.text(node, "uid") else { return nil }
                if let uid = FileReader.number(text) { return uid }
                reader.note(.badNumber, node, "\"\(text)\" is no uid", advice: "decimal digits")
                return nil
            }
            if let found { facts.uid = found }
        case "flags":
            let found = fact(node) { reader, node -> PolicyItemFlags? in
                // An empty list is known, and names none of them.
                if case .list(let items) = node.content, items.isEmpty { return [] }
                return reader.itemFlags(node["has"] ?? node)
            }
            if let found { facts.flags = found }
        case "constraint":
            if node.scalar == "never" {
                facts.constraint = .never
            } else if let constraint = self.constraint(node) {
                facts.constraint = .needs(constraint)
            }
        case "time":
            if let found = fact(node, { $0.timeOfWeek($1, day) }) { facts.time = found }
        case "date":
            if let found = fact(node, { $0.anyDate($1, "when.date") }) { facts.date = found }
        default: break
        }
    }

    /// Reads a known value or `unknown!`; nil after a mistake.
    private mutating func fact<Value>(
        _ node: YAMLNode, _ read: (inout Self, YAMLNode) -> Value?
    ) -> Fact<Value>? {
        node.scalar == Self.unknown ? .unknown : read(&self, node).map { .known($0) }
    }

    private mutating func values(
        of field: TextField, _ node: YAMLNode, _ what: String
    ) -> [PolicyText]? {
        if field == .group {
            if case .list(let items) = node.content, items.isEmpty { return [] }
            let found = texts(node, what)
            if let unknown = found.first(where: { $0.text == Self.unknown }) {
                note(
                    .badTest, unknown.node, "\"\(Self.unknown)\" stands for all groups",
                    advice: "write group: \(Self.unknown)")
            }
            return found.map { PolicyText($0.text) }
        }
        // An attribute of an item may be empty.
        if field.block == .resource, node.scalar == "" { return [""] }
        guard let text = self.text(node, what) else { return nil }
        return [PolicyText(field.isHostName ? text.lowercased() : text)]
    }

    // MARK: Time

    /// `YYYY-MM-DDTHH:MM`, local.
    private mutating func moment(_ node: YAMLNode) -> (day: Int32, time: Fact<MinuteOfWeek>)? {
        guard let text = self.text(node, "at") else { return nil }
        let parts = text.split(separator: "T", omittingEmptySubsequences: false)
        if parts.count == 2, let day = CalendarDay.number(of: parts[0]),
            let minute = Self.minuteOfDay(String(parts[1])),
            let time = Self.minute(minute, ofDay: CalendarDay.weekday(of: day))
        {
            return namable(day, node, "at").map { ($0, .known(time)) }
        }
        note(.badDate, node, "at \"\(text)\" is no moment", advice: "YYYY-MM-DDTHH:MM, local time")
        return nil
    }

    /// `fri 14:30`, or `14:30` of the request's day.
    private mutating func timeOfWeek(_ node: YAMLNode, _ today: Int32) -> MinuteOfWeek? {
        guard let text = self.text(node, "when.time") else { return nil }
        let parts = text.split(separator: " ")
        let weekday =
            parts.count == 1
            ? CalendarDay.weekday(of: today)
            : parts.first.flatMap { Self.days.firstIndex(of: String($0)) }
        if parts.count <= 2, let weekday, let last = parts.last,
            let minute = Self.minuteOfDay(String(last)),
            let time = Self.minute(minute, ofDay: weekday)
        {
            return time
        }
        note(
            .badWindow, node, "\"\(text)\" is no time of the week", advice: "as fri 14:30, or 14:30"
        )
        return nil
    }

    private static func minute(_ minute: Int, ofDay weekday: Int) -> MinuteOfWeek? {
        MinuteOfWeek(weekday * MinuteOfWeek.perDay + minute)
    }

    // MARK: Evidence

    /// `{passcode: {age: 2m, scope: process}, pam: {keychain-otp: {…}}}`
    private mutating func evidence(_ node: YAMLNode) -> [PolicyProof] {
        let factors = PolicyFactor.allCases.map(\.rawValue)
        guard let keys = mapping(node, "evidence", keys: factors + ["pam", "approval"]) else {
            return []
        }
        return keys.entries.flatMap { entry -> [PolicyProof] in
            guard ["pam", "approval"].contains(entry.key) else {
                let factor = PolicyFactor(rawValue: entry.key)
                return factor.flatMap { proof(.factor($0), entry.value) }.map { [$0] } ?? []
            }
            guard case .mapping(let services) = entry.value.content else {
                note(
                    .wrongKind, entry.value,
                    "\(entry.key) is \(entry.value.kind), not a mapping",
                    advice: entry.key == "pam"
                        ? "as {keychain-otp: {age: 2m, scope: process}}"
                        : "as {ann: {age: 2m, scope: process}}")
                return []
            }
            return services.compactMap { service in
                let key = YAMLNode(content: .scalar(service.key), place: service.place)
                guard entry.key == "pam" else {
                    return isUserName(service.key, key)
                        ? proof(.approval(by: service.key), service.value) : nil
                }
                return self.service(key).flatMap { proof(.pam(PolicyText($0)), service.value) }
            }
        }
    }

    private mutating func proof(_ method: PolicyMethod, _ node: YAMLNode) -> PolicyProof? {
        guard let keys = mapping(node, "a proof", keys: ["age", "scope"]) else { return nil }
        guard let scopeNode = keys["scope"] else {
            note(
                .missingKey, node, "a proof without \"scope\"",
                advice: "the narrowest one it shares with the request: "
                    + Freshness.allCases.map(\.word).joined(separator: ", "))
            return nil
        }
        let age = keys["age"].map { duration($0, "age") } ?? .zero
        guard let scope = freshness(scopeNode), let age else { return nil }
        return PolicyProof(method, age: age, scope: scope)
    }
}
