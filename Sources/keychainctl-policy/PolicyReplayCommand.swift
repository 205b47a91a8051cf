// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import KeychainPolicyModel
internal import ArgumentParser
internal import KeychainAccessControl
internal import KeychainCommands
internal import PolicyTools
internal import Terminal

struct PolicyReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show which recorded requests a set would have decided otherwise.",
        discussion: """
            For root, who alone may read the records. --policies or --with names the set; without \
            them it is the one on this system. Records don't tell what items are called, unless a \
            rule with audit: full asks for it; where the decision hangs on that, it says "perhaps". \
            Reads that needed no question are recorded together, with the facts of the first.
            """)

    @OptionGroup var records: PolicyRecords
    @OptionGroup var policies: PolicyOptions
    @Option(
        help: ArgumentHelp(
            "The same as --policies.", valueName: "dir"))
    var with: [String] = []

    func run() throws {
        var policies = self.policies
        policies.folders += with
        let replay = PolicyReplay(try policies.loadUsable().policy)
        let (entries, untold) = try records.read()
        var groups: [(line: String, example: String, count: Int)] = []
        var counts: [PolicyReplay.Verdict: Int] = [:]
        for entry in entries {
            let (verdict, decision) = replay.verdict(
                on: entry.request, was: entry.decision, entry.record.requires)
            counts[verdict, default: 0] += entry.record.count
            guard verdict != .same else { continue }
            let line =
                (verdict == .perhaps ? "perhaps " : "") + decision.words + ", was "
                + entry.was + ": \(entry.request.operation.rawValue) by \(entry.record.program)"
                + (entry.record.user.map { " of user \($0)" } ?? "")
            if let place = groups.firstIndex(where: { $0.line == line }) {
                groups[place].count += entry.record.count
            } else {
                groups.append((line, entry.request.json, entry.record.count))
            }
        }
        let lines = groups.flatMap {
            ["\($0.count) × \($0.line)", "    for example: \($0.example)"]
        }
        let all = entries.reduce(0) { $0 + $1.record.count }
        let total =
            "\(PolicyOutput.count(all, "request")), \(counts[.otherwise] ?? 0) decided otherwise, "
            + "\(counts[.perhaps] ?? 0) perhaps, \(untold) without facts"
        StandardStream.output.write(
            PlainText.escaped((lines + [total]).joined(separator: "\n")) + "\n")
    }
}

extension PolicyRecords.Entry {
    fileprivate var was: String {
        decision.rawValue + (record.requires.map { " of \($0)" } ?? "")
    }
}
