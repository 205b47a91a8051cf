// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainPolicyModel
internal import PolicyTools
internal import Terminal

struct PolicyExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a request is decided so, and which rules it just misses.",
        discussion: """
            The request is one line of JSON; or what a process would ask for, with --pid; or, with \
            --last-denied, the last request that the keychain service refused to the user, or to \
            any user for root. The last two are shown before they are explained.
            """)

    @OptionGroup var policies: PolicyOptions
    @Option(
        help: ArgumentHelp(
            "Explain what this process may do, by what the keychain service knows of it.",
            valueName: "pid"))
    var pid: UInt32?
    @Option(help: "With --pid: the operation, read-secret when left out.")
    var operation: String?
    @Option(
        help: """
            With --pid: the item's facts as JSON. Without an access group, the item is one of the \
            program's own.
            """)
    var item: String?
    @Flag(help: "Explain the last request that was refused.")
    var lastDenied = false
    @Flag(help: "Show all rules that were missed by one field.")
    var all = false
    @Argument(help: "The request as JSON; read from standard input when left out.")
    var request: String?

    /// The most rules missed by one field that are shown without --all.
    private static let mostMisses = 20

    func validate() throws {
        if [pid != nil, lastDenied, request != nil].count(where: \.self) > 1 {
            throw ValidationError("Say one of REQUEST, --pid and --last-denied.")
        }
        if pid == nil, operation != nil || item != nil {
            throw ValidationError(
                "--operation and --item go with --pid. A REQUEST has them as \"operation\" and "
                    + "\"resource\".")
        }
    }

    func run() throws {
        let loaded = try policies.loadUsable()
        let (request, heading) = try asked()
        StandardStream.output.write(
            PlainText.escaped(heading + text(Explanation(request, under: loaded.policy))))
    }

    /// The request, and the text before its explanation.
    private func asked() throws -> (request: PolicyRequest, heading: String) {
        if let pid {
            let operation = try RequestOperation.named(operation ?? "read-secret")
            let facts = try AccessText.facts(item ?? "{}", .resource, today: policies.today)
            let report = try ServiceFacts.of(pid)
            let request = try understood { () throws(RequestLine.Mistake) in
                try report.request(operation, item: facts, today: policies.today)
            }
            return (request, "request: \(request.json)\n")
        }
        if lastDenied {
            let record = try ServiceFacts.lastDenied()
            let line = record.request ?? ""
            let heading = "refused at \(record.timeText) to \(record.program)\nrequest: \(line)\n"
            return (try read(line), heading)
        }
        guard let line = request ?? readLine() else {
            throw ValidationError("Say which request, as JSON.")
        }
        return (try read(line), "")
    }

    private func read(_ line: String) throws(CommandFailure) -> PolicyRequest {
        try understood { () throws(RequestLine.Mistake) in
            try RequestLine.read(line, today: policies.today)
        }
    }

    private func understood(
        _ read: () throws(RequestLine.Mistake) -> PolicyRequest
    ) throws(CommandFailure) -> PolicyRequest {
        do throws(RequestLine.Mistake) { return try read() } catch {
            throw CommandFailure(
                .failure, name: "badRequest", "this is no request: \(error.message)",
                advice: "{\"operation\": \"read-secret\", \"subject\": {…}} is one.")
        }
    }

    private func text(_ told: Explanation) -> String {
        let decision = told.decision
        var lines = ["decision: \(decision.outcome.rawValue)"]
        if let requires = decision.requires { lines.append("requires: \(requires.json)") }
        if !told.approvers.isEmpty {
            lines.append("approved by: " + told.approvers.joined(separator: ", "))
        }
        if let would = decision.wouldDecide { lines.append("would: \(would.rawValue)") }
        if decision.audit == .full { lines.append("audit: full") }
        if !decision.redacted.isEmpty {
            lines.append("redacted: " + decision.redacted.map(\.shown).joined(separator: ", "))
        }
        if !told.because.isEmpty { lines.append("because:") }
        for rule in told.because {
            lines.append("    \(rule.id) (\(place(rule.origin))): \(rule.words)")
        }
        if let refusal = told.refusal { lines.append("refused: \(refusal)") }
        if !told.closest.isEmpty { lines.append("closest to letting it through:") }
        for rule in told.closest {
            lines.append(
                "    \(rule.id) (\(place(rule.origin))): \(rule.words)\n        but not: "
                    + rule.fields.joined(separator: ", "))
        }
        if !told.nearMisses.isEmpty { lines.append("missed by one field:") }
        let shown = all ? told.nearMisses[...] : told.nearMisses.prefix(Self.mostMisses)
        for miss in shown {
            lines.append("    \(miss.id) (\(place(miss.origin))): \(miss.field)")
        }
        let rest = told.nearMisses.count - shown.count
        if rest > 0 {
            lines.append("    and \(PolicyOutput.count(rest, "more rule")); --all shows them")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func place(_ origin: PolicyOrigin) -> String {
        "\(origin.file):\(origin.line)"
    }
}
