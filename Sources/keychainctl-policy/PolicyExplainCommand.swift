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
        abstract: "Say why a request is decided so, and which rules it just misses.")

    @OptionGroup var policies: PolicyOptions
    @Argument(help: "The request as JSON; read from standard input when left out.")
    var request: String?

    func run() throws {
        let loaded = try policies.loadUsable()
        guard let line = request ?? readLine() else {
            throw ValidationError("Say which request, as JSON.")
        }
        let request: PolicyRequest
        do throws(RequestLine.Mistake) {
            request = try RequestLine.read(line, today: policies.today)
        } catch {
            throw CommandFailure(
                .failure, name: "badRequest", "this is no request: \(error.message)",
                advice: "{\"operation\": \"read-secret\", \"subject\": {…}} is one.")
        }
        StandardStream.output.write(
            PlainText.escaped(Self.text(Explanation(request, under: loaded.policy))))
    }

    private static func text(_ told: Explanation) -> String {
        let decision = told.decision
        var lines = ["decision: \(decision.outcome.rawValue)"]
        if let requires = decision.requires { lines.append("requires: \(requires.json)") }
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
        for miss in told.nearMisses {
            lines.append("    \(miss.id) (\(place(miss.origin))): \(miss.field)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func place(_ origin: PolicyOrigin) -> String {
        "\(origin.file):\(origin.line)"
    }
}
