// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicyLanguage

/// The rules of a set as a graph: from the subject, through the rule, to the item.
package struct PolicyGraph: Sendable {
    private let policy: PolicySet

    package init(_ policy: PolicySet) { self.policy = policy }

    /// The graph in Graphviz's language.
    package var dot: String {
        var lines = [
            "digraph policy {", "  rankdir=LR;", "  node [fontname=\"sans-serif\"];",
        ]
        for scope in policy.closed.sorted(by: { $0.id < $1.id }) {
            lines += edges(scope.id, "closed", "grey", scope.match)
        }
        for rule in policy.rules.sorted(by: { $0.id < $1.id }) {
            lines += edges(rule.id, rule.effect.words, rule.effect.color, rule.match)
        }
        for group in policy.groups.sorted(by: { $0.id < $1.id }) {
            lines.append("  " + node(group.id, "group \(group.group)", "blue"))
            for member in group.members {
                lines.append("  \(DOTText(words(member))) -> \(DOTText(group.id.string));")
            }
            lines.append(
                "  \(DOTText(group.id.string)) -> \(DOTText("access-group=\(group.group)"));")
        }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    private func edges(
        _ id: PolicyText, _ words: String, _ color: String, _ match: PolicyMatch
    ) -> [String] {
        let conditions = match.box.conditions
        let who = self.words(conditions.filter(\.isSubject))
        let what = self.words(conditions.filter(\.isResource))
        let rule = DOTText(id.string)
        let label = DOTText(match.box.operations.words)
        return [
            "  " + node(id, words, color),
            "  \(DOTText(who.isEmpty ? "any program" : who)) -> \(rule);",
            "  \(rule) -> \(DOTText(what.isEmpty ? "any item" : what)) [label=\(label)];",
        ]
    }

    private func node(_ id: PolicyText, _ words: String, _ color: String) -> String {
        "\(DOTText(id.string)) [shape=box, color=\(color), label=\(DOTText("\(id)\n\(words)"))];"
    }

    private func words(_ conditions: [PolicyCondition]) -> String {
        conditions.map(\.words).joined(separator: "\n")
    }
}

extension PolicyEffect {
    fileprivate var color: String {
        switch self {
        case .permit, .share: "green"
        case .forbid: "red"
        case .require, .limit: "orange"
        case .redact, .audit: "blue"
        }
    }
}

extension PolicyOperations {
    /// The operations, as a policy writes them.
    var words: String {
        self == .all
            ? "all"
            : PolicyOperation.allCases.filter { contains($0) }.map(\.rawValue)
                .joined(separator: ", ")
    }
}

extension PolicyCondition {
    /// `exe=/usr/bin/git`
    var words: String {
        let name = fieldName.split(separator: ".").last.map(String.init) ?? fieldName
        return switch self {
        case .text(_, let patterns):
            name + "=" + patterns.map(\.description).joined(separator: "|")
        case .uid(let ranges):
            "uid="
                + ranges.map {
                    $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
                }
                .joined(separator: "|")
        case .choice(let field, let mask):
            name + "="
                + field.words.enumerated().filter { mask & (1 << UInt8($0.offset)) != 0 }
                .map(\.element).joined(separator: "|")
        case .boolean(_, let value): "\(name)=\(value)"
        case .flags(let has, let lacks):
            "flags" + has.names.map { " +\($0)" }.joined()
                + lacks.names.map { " -\($0)" }.joined()
        case .age(_, let range): "\(name)=\(range.lowerBound)…"
        case .date(let days):
            (days.lowerBound > .min ? "from \(CalendarDay.text(of: days.lowerBound)) " : "")
                + (days.upperBound < .max ? "until \(CalendarDay.text(of: days.upperBound))" : "")
        case .time(_, let outside): outside ? "outside a time" : "within a time"
        }
    }
}

/// A text quoted for Graphviz.
private struct DOTText: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\" + String(scalar)
            case "\n": "\\n"
            default: String(scalar)
            }
        }
        description = "\"" + escaped.joined() + "\""
    }
}
