// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicySyntax

/// Policies of one or more folders, read and merged. The set must not be used where there is an
/// error.
package struct LoadedPolicies: Sendable {
    /// The files in force, by level and name.
    package internal(set) var files: [PolicyFile] = []
    /// The policy in force, without replaced rules.
    package internal(set) var policy = PolicySet()
    package internal(set) var diagnostics: [Diagnostic] = []
    /// Files and rules of an earlier folder that restricted access and no longer count.
    package internal(set) var weakened: [Weakening] = []

    /// Rules in force that replace one of an earlier folder.
    package var replacements: [(old: PolicyText, new: PolicyText)] {
        policy.rules.compactMap { rule in rule.replaces.map { ($0, rule.id) } }
    }

    package struct Weakening: Sendable, Hashable {
        /// The file, or the id of the rule.
        package let what: String
        package let by: String
        /// The statements that forbade, required, limited or closed, and are gone.
        package let lost: [PolicyText]
    }

    /// The checks of the whole set stop after this many mistakes.
    package static let mostDiagnostics = 100

    package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// The folders in which a system keeps its policies; later ones win.
    package static let systemFolders = [
        "/usr/share/keychain/policies.d", "/run/keychain/policies.d", "/etc/keychain/policies.d",
    ]

    /// Reads folders or single files; later ones win. `added` are read as if they lay in the last
    /// folder, in place of its files of the same names. With `asRoot`, files that are not root's
    /// alone are refused, as the daemon does. `today` is the local date in days since 1970-01-01.
    package init(
        reading paths: [String], adding added: [String] = [], asRoot: Bool = false, today: Int32
    ) {
        var layers: [[PolicyFile]] = []
        for (number, path) in (paths + added).enumerated() {
            let (sources, found) = PolicyFolder.read(path, trust: asRoot ? .rootOnly : .anybody)
            diagnostics += found
            let level = max(min(number, paths.count - 1), 0)
            let files = sources.map { PolicyFile(reading: $0, level: level, today: today) }
            if number == level {
                layers.append(files)
            } else {
                layers[level].removeAll { old in files.contains { $0.isNamed(like: old) } }
                layers[level] += files
            }
        }
        putTogether(layers)
    }

    /// The same from files in memory, with one list for each folder.
    package init(_ layers: [[SourceFile]], today: Int32) {
        putTogether(
            layers.enumerated().map { level, sources in
                sources.map { PolicyFile(reading: $0, level: level, today: today) }
            })
    }

    private mutating func putTogether(_ layers: [[PolicyFile]]) {
        files = inForce(layers)
        diagnostics += files.flatMap(\.diagnostics)
        checkIDs()
        let replaced = replacements(among: layers.flatMap { $0 })
        policy = files.filter { !$0.isMask }.map(\.policy).reduce(into: PolicySet()) { all, file in
            all.rules += file.rules.filter { !replaced.contains($0.id) }
            all.closed += file.closed
            all.groups += file.groups
            all.assertions += file.assertions
        }
        checkSizes()
        diagnostics = Array(Set(diagnostics)).sorted()
    }

    /// A file replaces one of the same name in an earlier folder.
    private mutating func inForce(_ layers: [[PolicyFile]]) -> [PolicyFile] {
        var kept: [PolicyFile] = []
        for file in layers.flatMap({ $0 }) {
            if let place = kept.firstIndex(where: { $0.hides(file) == true }) {
                let hidden = kept.remove(at: place)
                let lost = hidden.restrictions.filter { !file.restrictions.contains($0) }
                if !lost.isEmpty {
                    weakened.append(
                        Weakening(what: hidden.source.path, by: file.source.path, lost: lost))
                }
            }
            kept.append(file)
        }
        return kept
    }

    // MARK: Checks of the set

    private mutating func checkIDs() {
        var seen: [PolicyText: PolicyOrigin] = [:]
        for file in files {
            for (id, origin) in file.ids {
                guard let first = seen[id] else {
                    seen[id] = origin
                    continue
                }
                guard diagnostics.count < Self.mostDiagnostics else { return }
                diagnostics.append(
                    file.diagnostic(
                        .duplicateID, at: origin, id.string, "the id \(id) is taken",
                        notes: ["by \(first.file):\(first.line)"]))
            }
        }
        checkLooks(seen)
    }

    /// Reports two ids that look the same: people would take the two rules for one.
    private mutating func checkLooks(_ ids: [PolicyText: PolicyOrigin]) {
        for (id, origin) in ids.sorted(by: { $0.key < $1.key }) {
            guard let plain = Lookalike.skeleton(id.string), ids[PolicyText(plain)] != nil,
                let file = files.first(where: { $0.source.path == origin.file })
            else { continue }
            diagnostics.append(
                file.diagnostic(
                    .confusable, at: origin, id.string, "\"\(id)\" looks like the id \"\(plain)\""))
        }
    }

    /// The ids of the rules that later ones replace.
    private mutating func replacements(among all: [PolicyFile]) -> Set<PolicyText> {
        var rules: [PolicyText: PolicyRule] = [:]
        for rule in files.flatMap(\.rules) where rules[rule.rule.id] == nil {
            rules[rule.rule.id] = rule.rule
        }
        var replaced: Set<PolicyText> = []
        for file in files {
            for loaded in file.rules {
                guard let target = loaded.rule.replaces, let place = loaded.replacesPlace else {
                    continue
                }
                if let old = rules[target], old.origin.level < file.level {
                    replaced.insert(target)
                    noteWeakening(old, by: loaded.rule)
                } else {
                    noteBadReplacement(target, at: place, rules[target], file, rules)
                }
            }
        }
        return replaced
    }

    private mutating func noteWeakening(_ old: PolicyRule, by new: PolicyRule) {
        guard old.effect.restricts, !new.effect.restrictsLike(old.effect) else { return }
        weakened.append(Weakening(what: old.id.string, by: new.id.string, lost: [old.id]))
    }

    private mutating func noteBadReplacement(
        _ target: PolicyText, at place: SourcePlace, _ found: PolicyRule?, _ file: PolicyFile,
        _ rules: [PolicyText: PolicyRule]
    ) {
        guard diagnostics.count < Self.mostDiagnostics else { return }
        let earlier = rules.values.filter { $0.origin.level < file.level }.map(\.id.string)
        let message =
            found == nil
            ? "no rule is called \"\(target)\""
            : "\"\(target)\" is not in an earlier folder"
        let advice =
            found == nil
            ? Suggestion.nearest(to: target.string, among: earlier.sorted())
                .map { "did you mean \"\($0)\"?" } ?? "name a rule of an earlier folder"
            : "change that rule, or add unless to it"
        diagnostics.append(
            Diagnostic(
                .badReplacement, in: file.source, at: place,
                length: file.source.length(at: place, plain: target.string), message,
                advice: advice))
    }

    private mutating func checkSizes() {
        let count = policy.rules.count + policy.closed.count + policy.groups.count
        if count > PolicySet.mostRules, let file = files.last {
            diagnostics.append(
                Diagnostic(
                    .tooManyRules, path: file.source.path,
                    "the set has \(count) rules; at most \(PolicySet.mostRules) are taken"))
        }
        let redacted = Set(policy.rules.flatMap(\.redacted))
        if redacted.count > PolicySet.mostRedactedAttributes, let file = files.last {
            diagnostics.append(
                Diagnostic(
                    .tooMuchRedacted, path: file.source.path,
                    "the set redacts \(redacted.count) attributes; "
                        + "at most \(PolicySet.mostRedactedAttributes) are taken"))
        }
    }
}

extension PolicyEffect {
    fileprivate var restricts: Bool {
        switch self {
        case .forbid, .require, .limit: true
        case .permit, .share, .redact, .audit: false
        }
    }

    /// Whether replacing the old effect by this one loses no restriction. A replaced forbid is
    /// always reported.
    fileprivate func restrictsLike(_ old: PolicyEffect) -> Bool {
        switch (old, self) {
        case (.require, .require), (.require, .forbid), (.limit, .limit), (.limit, .forbid): true
        default: false
        }
    }
}

extension PolicyRule {
    var redacted: [PolicyText] {
        if case .redact(let names) = effect { names } else { [] }
    }
}

extension PolicyFile {
    fileprivate func hides(_ later: PolicyFile) -> Bool {
        later.level > level && later.isNamed(like: self)
    }

    fileprivate func isNamed(like other: PolicyFile) -> Bool {
        baseName.utf8.elementsEqual(other.baseName.utf8)
    }

    fileprivate var restrictions: [PolicyText] {
        rules.map(\.rule).filter(\.effect.restricts).map(\.id) + closed.map(\.id)
    }

    /// All ids with their places, in the order of the places.
    var ids: [(id: PolicyText, origin: PolicyOrigin)] {
        let all =
            rules.map { ($0.rule.id, $0.rule.origin) } + closed.map { ($0.id, $0.origin) }
            + groups.map { ($0.id, $0.origin) } + assertions.map { ($0.id, $0.origin) }
        return all.sorted { ($0.1.line, $0.1.column) < ($1.1.line, $1.1.column) }
    }

    package func diagnostic(
        _ code: DiagnosticCode, at origin: PolicyOrigin, _ name: String, _ message: String,
        advice: String? = nil, notes: [String] = []
    ) -> Diagnostic {
        let place = SourcePlace(line: origin.line, column: origin.column)
        return Diagnostic(
            code, in: source, at: place, length: source.length(at: place, plain: name), message,
            advice: advice, notes: notes)
    }
}
