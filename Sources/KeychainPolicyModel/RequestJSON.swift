// SPDX-License-Identifier: Apache-2.0

extension PolicyRequest {
    /// The request as a line that `decide` and `explain` read. The day is left out where the facts
    /// don't name it.
    public var json: String {
        let blocks = [PolicyBlock.subject, .resource, .environment].compactMap { block in
            facts.json(block).map { "\"\(block.rawValue)\": \($0)" }
        }
        var parts = ["\"operation\": \(JSONText(operation.rawValue))"] + blocks
        if !evidence.isEmpty { parts.append("\"evidence\": \(evidence.json)") }
        if let before, let resource = before.json(.resource) {
            parts.append("\"before\": {\"resource\": \(resource)}")
        }
        return "{" + parts.joined(separator: ", ") + "}"
    }
}

extension PolicyFacts {
    /// The facts of a block as an object; nil where there are none.
    package func json(_ block: PolicyBlock) -> String? {
        var entries: [(String, String)] = []
        func add<Value>(_ name: String, _ fact: Fact<Value>, _ words: (Value) -> String) {
            switch fact {
            case .absent: break
            case .unknown: entries.append((name, "\"unknown!\""))
            case .known(let value): entries.append((name, words(value)))
            }
        }
        for field in TextField.allCases where field.block == block && self[field] != .known([]) {
            add(field.name, self[field]) { texts in
                field == .group
                    ? JSONText.list(texts)
                    : JSONText(texts.first?.string ?? "").description
            }
        }
        for field in ChoiceField.allCases where field.block == block {
            add(field.name, self[field]) { value in
                JSONText(field.words.indices.contains(Int(value)) ? field.words[Int(value)] : "")
                    .description
            }
        }
        for field in BooleanField.allCases where field.block == block {
            add(field.name, self[field]) { "\($0)" }
            // Without this the reader would derive the membership from the names, and get it wrong.
            if field == .member, self[field] == .absent, isOfOwnGroup == false {
                entries.append((field.name, "true"))
            }
        }
        for field in AgeField.allCases where field.block == block {
            add(field.name, self[field]) { JSONText("\($0)").description }
        }
        switch block {
        case .subject: add("uid", uid) { "\($0)" }
        case .resource:
            add("flags", flags) { JSONText.list($0.names.map { PolicyText($0) }) }
            switch constraint {
            case .none: break
            case .never: entries.append(("constraint", "\"never\""))
            case .needs(let needs): entries.append(("constraint", needs.json))
            }
        case .environment:
            add("time", time) { JSONText($0.words).description }
            add("date", date) { JSONText(CalendarDay.text(of: $0)).description }
        }
        guard !entries.isEmpty else { return nil }
        return "{" + entries.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
    }
}

extension PolicyItemFlags {
    /// The words of the flags that are set.
    public var names: [String] {
        Self.words.filter { word in PolicyItemFlags(word: word).map { contains($0) } ?? false }
    }
}

extension MinuteOfWeek {
    /// `fri 14:30`
    fileprivate var words: String {
        let two = { (number: Int) in (number < 10 ? "0" : "") + "\(number)" }
        let minute = value % Self.perDay
        return "\(Self.days[value / Self.perDay]) \(two(minute / 60)):\(two(minute % 60))"
    }
}

extension [PolicyProof] {
    /// Of several proofs by one method only the freshest is written.
    fileprivate var json: String {
        var factors: [String] = []
        var services: [String] = []
        var approvals: [String] = []
        var seen: Set<PolicyMethod> = []
        for proof in sorted(by: { $0.age < $1.age }) where seen.insert(proof.method).inserted {
            let words = "{\"age\": \"\(proof.age)\", \"scope\": \"\(proof.scope.word)\"}"
            switch proof.method {
            case .factor(let factor): factors.append("\"\(factor.rawValue)\": \(words)")
            case .pam(let service):
                if let name = service.approver {
                    approvals.append("\(JSONText(name.string)): \(words)")
                } else {
                    services.append("\(JSONText(service.string)): \(words)")
                }
            }
        }
        if !services.isEmpty { factors.append("\"pam\": {\(services.joined(separator: ", "))}") }
        if !approvals.isEmpty {
            factors.append("\"approval\": {\(approvals.joined(separator: ", "))}")
        }
        return "{\(factors.joined(separator: ", "))}"
    }
}

extension PolicyRequest {
    /// The same request without the names that people give to items.
    public var withoutNames: PolicyRequest {
        var copy = self
        copy.facts.hideNames()
        copy.before?.hideNames()
        return copy
    }
}

extension PolicyRequest {
    /// The same request with no text longer than `longest` bytes. A longer text becomes unknown and
    /// is listed in `cut` with its beginning: decided again, the request claims only facts that are
    /// in it.
    public func shortened(to longest: Int) -> (request: PolicyRequest, cut: [String]) {
        var copy = self
        var cut = copy.facts.shorten(to: longest, "")
        cut += copy.before?.shorten(to: longest, "before.") ?? []
        return (copy, cut)
    }
}

extension PolicyFacts {
    /// The most texts of one field, such as a user's groups, that fit together.
    private static let mostTexts = 16

    fileprivate mutating func shorten(to longest: Int, _ prefix: String) -> [String] {
        var cut: [String] = []
        for field in TextField.allCases {
            guard case .known(let texts) = self[field] else { continue }
            let size = texts.reduce(0) { $0 + $1.string.utf8.count }
            let longestOne = texts.map(\.string.utf8.count).max() ?? 0
            guard longestOne > longest || size > longest * Self.mostTexts else { continue }
            self[field] = .unknown
            cut.append("\(prefix)\(field.name): " + (texts.first?.cut(to: longest) ?? ""))
        }
        return cut
    }
}

extension TextField {
    /// The names that people and programs give to items; records have them only where a rule asks
    /// for it.
    public static let itemNames: [TextField] = [
        .service, .account, .server, .itemLabel, .creator,
    ]
}

extension PolicyFacts {
    fileprivate mutating func hideNames() {
        for field in TextField.itemNames where self[field] != .absent { self[field] = .unknown }
    }
}
