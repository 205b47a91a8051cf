// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicySyntax

/// A request with its expected decision.
package struct PolicyTest: Sendable {
    package let name: String
    package let origin: PolicyOrigin
    package let request: PolicyRequest
    package let expected: Expected

    /// The expectations; those left out are not checked.
    package struct Expected: Sendable {
        package var outcome: PolicyOutcome
        package var because: [PolicyText]?
        /// Canonical; the inner nil expects no requirement.
        package var requires: PolicyConstraint??
        package var audit: AuditLevel?
        package var redacted: [PolicyText]?
        /// The inner nil expects none.
        package var wouldDecide: PolicyOutcome??
        /// The places of the ids in `because`.
        package var places: [PolicyText: SourcePlace] = [:]
    }
}

extension FileReader {
    static let mostRows = 1_000
    static let mostTests = 10_000

    /// The rows of one entry under `tests:`.
    mutating func tests(_ node: YAMLNode) -> [PolicyTest] {
        let known = ["name", "description", "request", "each", "expect"]
        guard let keys = mapping(node, "a test", keys: known) else { return [] }
        for key in ["name", "request", "expect"] where keys[key] == nil {
            note(.missingKey, node, "a test without \"\(key)\"", advice: "add it")
        }
        guard let nameNode = keys["name"], let request = keys["request"],
            let expect = keys["expect"], let name = text(nameNode, "name")
        else { return [] }
        let origin = origin(nameNode)
        let rows = keys["each"].map { self.rows(of: request, $0) } ?? [(request, "")]
        guard let rows else { return [] }
        let expectations = self.expectations(expect, count: rows.count)
        guard expectations.count == rows.count else { return [] }
        return zip(rows, expectations).compactMap { row, expected in
            guard var request = self.request(row.request), let expected else { return nil }
            // The result of a test must not depend on the day on which it runs.
            if request.facts.date == .absent { request.facts.date = .unknown }
            return PolicyTest(
                name: name + row.label, origin: origin, request: request, expected: expected)
        }
    }

    // MARK: Tables

    /// One request for each element of the lists in `each`.
    private mutating func rows(
        of request: YAMLNode, _ each: YAMLNode
    ) -> [(request: YAMLNode, label: String)]? {
        guard case .mapping(let columns) = each.content, !columns.isEmpty else {
            note(
                .wrongKind, each, "each is \(each.kind), not fields with lists of values",
                advice: "as {subject.session: [seat, ssh]}")
            return nil
        }
        var lists: [(path: [String], values: [YAMLNode])] = []
        for column in columns {
            guard let path = self.path(column) else { return nil }
            let values = list(column.value, column.key)
            guard let first = lists.first?.values ?? values as [YAMLNode]?, !first.isEmpty,
                first.count == values.count
            else {
                note(
                    .badTest, column, "\"\(column.key)\" has \(values.count) values",
                    advice: "each field of a table has as many values as the others")
                return nil
            }
            lists.append((path, values))
        }
        guard lists.first?.values.count ?? 0 <= Self.mostRows else {
            note(.tooManyValues, each, "a table of more than \(Self.mostRows) rows")
            return nil
        }
        return (0..<(lists.first?.values.count ?? 0)).map { row in
            let values = lists.map { ($0.path, $0.values[row]) }
            let label = values.map { path, value in
                path.joined(separator: ".") + "=" + (value.scalar ?? "…")
            }
            return (
                values.reduce(request) { $0.replacing($1.0[...], with: $1.1) },
                " [" + label.joined(separator: ", ") + "]"
            )
        }
    }

    /// Reads `subject.session`, or `session` where only one block has such a field.
    private mutating func path(_ column: YAMLEntry) -> [String]? {
        let parts = column.key.split(separator: ".").map(String.init)
        if parts.count > 1 || RequestKeys.all.contains(column.key) { return parts }
        let blocks = RequestKeys.blocks.filter { $0.fields.contains(column.key) }.map(\.name)
        if blocks.count == 1 { return blocks + [column.key] }
        note(
            .badTest, column,
            blocks.isEmpty
                ? "unknown field \"\(column.key)\"" : "\"\(column.key)\" is in several blocks",
            advice: blocks.isEmpty
                ? "as subject.session"
                : blocks.map { "\($0).\(column.key)" }.joined(separator: " or "))
        return nil
    }

    // MARK: Expectations

    /// One expectation for all rows, or a list with one for each.
    private mutating func expectations(
        _ node: YAMLNode, count: Int
    ) -> [PolicyTest.Expected?] {
        guard case .list(let items) = node.content else {
            let expected = self.expected(node)
            return Array(repeating: expected, count: count)
        }
        guard items.count == count else {
            note(
                .badTest, node, "\(items.count) expectations for \(count) rows",
                advice: "one, or one a row")
            return []
        }
        return items.map { expected($0) }
    }

    private mutating func expected(_ node: YAMLNode) -> PolicyTest.Expected? {
        let known = ["decision", "because", "requires", "audit", "redacted", "would"]
        guard let keys = mapping(node, "expect", keys: known) else { return nil }
        guard let decision = keys["decision"] else {
            note(
                .missingKey, node, "an expectation without \"decision\"",
                advice: "one of: " + PolicyOutcome.allCases.map(\.rawValue).joined(separator: ", "))
            return nil
        }
        guard let outcome = self.outcome(decision) else { return nil }
        var expected = PolicyTest.Expected(outcome: outcome)
        if let node = keys["because"] {
            let ids = self.ids(node)
            expected.because = Set(ids.map { PolicyText($0.text) }).sorted()
            for id in ids { expected.places[PolicyText(id.text)] = id.node.place }
        }
        if let node = keys["requires"] {
            if node.isNull {
                expected.requires = .some(nil)
            } else {
                guard let constraint = self.constraint(node) else { return nil }
                expected.requires = constraint.canonical
            }
        }
        if let node = keys["audit"] {
            expected.audit = word(node, "audit level", of: ["decision", "full"])
                .map { $0 == "full" ? .full : .decision }
        }
        if let node = keys["redacted"] {
            expected.redacted = Set(ids(node).map { PolicyText($0.text) }).sorted()
        }
        if let node = keys["would"] {
            expected.wouldDecide = node.isNull ? .some(nil) : self.outcome(node)
        }
        return expected
    }

    private mutating func outcome(_ node: YAMLNode) -> PolicyOutcome? {
        word(node, "decision", of: PolicyOutcome.allCases.map(\.rawValue))
            .flatMap { PolicyOutcome(rawValue: $0) }
    }

    /// A list that may be empty.
    private mutating func ids(_ node: YAMLNode) -> [(text: String, node: YAMLNode)] {
        if case .list(let items) = node.content {
            return items.compactMap { item in text(item, "an item").map { ($0, item) } }
        }
        return texts(node, "the list")
    }
}

extension YAMLNode {
    var isNull: Bool { ["null", "~", ""].contains(scalar) }

    /// The same node with another value at the path, which is created where it is missing.
    fileprivate func replacing(_ path: ArraySlice<String>, with value: YAMLNode) -> YAMLNode {
        guard let key = path.first else { return value }
        var entries: [YAMLEntry] = []
        if case .mapping(let own) = content { entries = own }
        let empty = YAMLNode(content: .mapping([]), place: value.place)
        let old = entries.first { $0.key == key }
        let new = YAMLEntry(
            key: key, place: old?.place ?? value.place,
            value: (old?.value ?? empty).replacing(path.dropFirst(), with: value))
        let place = entries.firstIndex { $0.key == key }
        if let place { entries[place] = new } else { entries.append(new) }
        return YAMLNode(content: .mapping(entries), place: self.place)
    }
}
