// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax
internal import KeychainPolicyModel
internal import PolicyLanguage
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainDaemonClient
internal import KeychainMessages
internal import Terminal

struct PolicyStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which files are in force, and what they weaken.",
        discussion: "Ends with 3 where the service could not use the files and others count.")

    @OptionGroup var policies: PolicyOptions

    func run() throws {
        if policies.folders.isEmpty, DaemonSocket.ofThisProcess != nil {
            let keychain = Keychain(name: nil, asJSON: false)
            let report = PolicyReport(
                text: try keychain.ask(Policies(.report), to: "learn the policies"))
            StandardStream.output.write(PlainText.escaped(report.text) + "\n")
            if !report.isAsWritten { throw ExitCode(3) }
            return
        }
        let loaded = try policies.loadUsable()
        var lines = loaded.files.map { file in
            file.isMask
                ? "\(file.source.path): empty, masks files of its name"
                : "\(file.source.path): \(file.name), \(PolicyOutput.count(file.ruleCount, "rule"))"
        }
        lines += loaded.replacements.map { "replaced: \($0.old) by \($0.new)" }
        for weakening in loaded.weakened {
            lines.append("weakened: \(weakening.words)")
        }
        StandardStream.output.write(PlainText.escaped(lines.joined(separator: "\n")) + "\n")
    }
}
