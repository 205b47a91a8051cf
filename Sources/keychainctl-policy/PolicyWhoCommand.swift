// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicyLanguage
internal import PolicyRequestSpace
internal import PolicyTools
internal import Terminal

struct PolicyWhoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "who",
        abstract: "Show who may do something to an item, and after which proof.",
        discussion: "The weakest subjects come first.")

    @OptionGroup var policies: PolicyOptions
    @Option(name: .customLong("op"), help: "The operation.")
    var operation = "read-secret"
    @Flag(help: "Write JSON.")
    var json = false
    @Argument(help: "The item's facts as JSON, as '{\"class\": \"key\", \"service\": \"mail\"}'.")
    var item: String

    func run() throws {
        let operation = try RequestOperation.named(operation)
        let loaded = try policies.loadUsable()
        let facts = try AccessText.facts(item, .resource, today: policies.today)
        let analysis = PolicyAnalysis(loaded.policy, day: policies.today)
        let found = PolicyOutput.analysing { analysis.who(operation, item: facts) }
        AccessText.write(found, asJSON: json)
    }
}

struct PolicyCanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "can", abstract: "Show what a subject may do, and after which proof.")

    @OptionGroup var policies: PolicyOptions
    @Flag(help: "Write JSON.")
    var json = false
    @Argument(help: "The subject's facts as JSON, as '{\"user\": \"u\", \"session\": \"ssh\"}'.")
    var subject: String

    func run() throws {
        let loaded = try policies.loadUsable()
        let facts = try AccessText.facts(subject, .subject, today: policies.today)
        let analysis = PolicyAnalysis(loaded.policy, day: policies.today)
        let found = PolicyOutput.analysing { analysis.can(facts) }
        AccessText.write(found, asJSON: json)
    }
}

/// The text of accesses.
enum AccessText {
    static func facts(
        _ text: String, _ block: PolicyBlock, today: Int32
    ) throws(CommandFailure) -> PolicyFacts {
        do throws(RequestLine.Mistake) {
            return try RequestLine.facts(text, block, today: today)
        } catch {
            throw CommandFailure(
                .usage, name: "badFacts", "these are no facts: \(error.message)",
                advice: "They are the object under \(block.rawValue): of a test's request.")
        }
    }

    static func write(_ list: PolicyAccessList, asJSON: Bool) {
        if asJSON {
            StandardStream.output.write(PlainText.json(list.json) + "\n")
            return
        }
        let shown = list.accesses.prefix([RequestArea].mostEntries)
        let rest = list.accesses.count - shown.count
        var lines = shown.flatMap { access in
            [
                words(access.decision, list.detail)
                    + (access.isWeak ? " (weak: another program of the same user could do it)" : "")
            ] + Self.lines(access.areas) + ["    for example: " + access.request.json]
        }
        if rest > 0 { lines.append("and \(rest) more such answers; --json has all") }
        if list.accesses.isEmpty, list.isComplete { lines.append("no program may do it") }
        lines += notes(list)
        StandardStream.output.write(PlainText.escaped(lines.joined(separator: "\n")) + "\n")
    }

    /// One line for each area.
    static func lines(_ areas: [RequestArea]) -> [String] {
        let shown = areas.prefix([RequestArea].mostShown).map { "    " + $0.words }
        let rest = areas.count - shown.count
        return shown + (rest > 0 ? ["    and \(rest) more such areas; --json has all"] : [])
    }

    private static func notes(_ list: PolicyAccessList) -> [String] {
        let detail: String? =
            switch list.detail {
            case .rules: nil
            case .proofs: "not decided in time by which rules; those of the examples are known"
            case .outcome: "not decided in time after which proof; that of the examples is known"
            }
        guard let undecided = list.undecided else { return [detail].compactMap(\.self) }
        let left = undecided.map { "\($0.name): \($0.shown)" }.joined(separator: "; ")
        return [
            "not decided in time: what is shown is true, and there may be more"
                + (left.isEmpty ? "" : " in " + left),
            "a question that names more facts takes less time",
        ]
    }

    private static func words(
        _ decision: PolicyDecision, _ detail: PolicyAccessList.Detail
    ) -> String {
        switch detail {
        case .rules: decision.need + decision.reasons + decision.obligations
        case .proofs: decision.need + decision.obligations
        case .outcome: "allow, at once or after a proof"
        }
    }
}
