// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicySyntax

/// The keychain service's facts about a process: the subject and the environment of a request that
/// it would make (`ProcessSubject.words`).
package struct SubjectReport: Sendable {
    /// The groups whose items are the program's own.
    package let accessGroups: [String]
    private let subject: String
    private let environment: String?
    private let reasons: [String: String]

    /// nil for lines of another form.
    package init?(_ text: String) {
        var lines: [String: [String]] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let kind = parts.first, let rest = parts.last else {
                return nil
            }
            lines[String(kind), default: []].append(String(rest))
        }
        guard let subject = lines["subject"]?.first else { return nil }
        self.subject = subject
        environment = lines["when"]?.first
        accessGroups = (lines["access-group"] ?? []).compactMap {
            (try? RequestLine.value($0))?.scalar
        }
        reasons = Dictionary(
            (lines["unknown"] ?? []).map { line in
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                return (parts.first ?? "", parts.count == 2 ? parts.last ?? "" : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The form that `explain` and `decide` read.
    package func json(_ operation: PolicyOperation) -> String {
        let parts =
            ["\"operation\": \(JSONText(operation.rawValue))", "\"subject\": \(subject)"]
            + (environment.map { ["\"when\": \($0)"] } ?? [])
        return "{" + parts.joined(separator: ", ") + "}"
    }

    /// The form that tests read, with a comment at each unknown fact.
    package var yaml: String {
        let groups = accessGroups.isEmpty ? "none" : accessGroups.joined(separator: ", ")
        let blocks = [("subject", subject), ("when", environment)].map { name, facts in
            facts.map { yaml(name, $0) } ?? ""
        }
        return "# own access group: \(groups)\n" + blocks.joined()
    }

    private func yaml(_ block: String, _ facts: String) -> String {
        guard case .mapping(let entries)? = (try? RequestLine.value(facts))?.content else {
            return ""
        }
        return "\(block):\n"
            + entries.map { entry in
                let reason = reasons["\(block).\(entry.key)"].map { "  # \($0)" } ?? ""
                return "  \(entry.key): \(YAMLText.flow(entry.value))\(reason)\n"
            }.joined()
    }

    /// The request that the process would make for an item, in a keychain that is open and has a
    /// password. Without the item's group, the item is one of its own.
    package func request(
        _ operation: PolicyOperation, item: PolicyFacts, today: Int32
    ) throws(RequestLine.Mistake) -> PolicyRequest {
        var request = try RequestLine.read(json(operation), today: today)
        request.facts = request.facts.with(item: item)
        if case .known(let named) = item[.accessGroup], let group = named.first {
            request.facts[.member] = .known(accessGroups.contains { PolicyText($0) == group })
        } else if let own = accessGroups.first {
            request.facts[.accessGroup] = .known([PolicyText(own)])
        }
        request.facts[.unlocked] = .known(true)
        request.facts[.passcodeSet] = .known(true)
        return request
    }
}

/// Values as policies write them.
enum YAMLText {
    /// The value on one line.
    static func flow(_ node: YAMLNode) -> String {
        switch node.content {
        case .scalar(let text): isPlain(text) ? text : JSONText(text).description
        case .list(let items): "[" + items.map(flow).joined(separator: ", ") + "]"
        case .mapping(let entries):
            "{" + entries.map { "\($0.key): \(flow($0.value))" }.joined(separator: ", ") + "}"
        }
    }

    /// Whether the text needs no quotes as a value.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetterOrDigit(first) || first == UInt8(ascii: "/")
        else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "/._@+-!".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
