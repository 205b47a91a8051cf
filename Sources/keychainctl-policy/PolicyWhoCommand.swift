// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainPolicyModel
internal import PolicyAnalysis
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
        guard let operation = PolicyOperation(rawValue: operation) else {
            throw ValidationError(
                "The operation is one of: "
                    + PolicyOperation.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        let loaded = try policies.loadUsable()
        let facts = try AccessText.facts(item, .resource, today: policies.today)
        let analysis = PolicyAnalysis(loaded.policy, day: policies.today)
        AccessText.write(analysis.who(operation, item: facts), asJSON: json)
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
        AccessText.write(
            PolicyAnalysis(loaded.policy, day: policies.today).can(facts), asJSON: json)
    }
}

/// What a program may do, in words.
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
        var lines = list.accesses.flatMap { access in
            [
                words(access.decision) + (access.isWeak ? " (weak: can be forged)" : ""),
                "    "
                    + (access.area.isEmpty ? "any request" : access.area.joined(separator: "; ")),
                "    for example: " + access.request.json,
            ]
        }
        if list.accesses.isEmpty, list.isComplete { lines.append("no program: nothing is allowed") }
        if !list.isComplete { lines.append("not decided: there may be more; the budget is spent") }
        StandardStream.output.write(PlainText.escaped(lines.joined(separator: "\n")) + "\n")
    }

    static func words(_ decision: PolicyDecision) -> String {
        let requires = decision.requires.map { " of \($0.json)" } ?? ""
        let ids = decision.because.map(\.string).joined(separator: ", ")
        return decision.outcome.rawValue + requires + (ids.isEmpty ? "" : " because \(ids)")
    }
}
