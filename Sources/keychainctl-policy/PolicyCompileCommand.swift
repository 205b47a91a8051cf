// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax
internal import KeychainPolicyCompiler
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import PolicyLanguage
internal import PolicyTools

/// The command that keychain-starter starts for keychaind when policies may have changed, as
/// keychaind reads no YAML itself.
struct PolicyCompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Compile policies for keychaind, by keychain-starter.",
        discussion: """
            Reads what is root's alone, as a user without rights, and writes to descriptor 3: a compiled policy, \
            or, ending with 1, why there is none.
            """,
        shouldDisplay: false)

    @OptionGroup var policies: PolicyOptions

    func run() throws {
        try Privileges.drop(to: "_keychain-policy")
        let loaded = LoadedPolicies(
            reading: policies.folders, asRoot: true, today: policies.today)
        var diagnostics = loaded.diagnostics
        if !loaded.hasErrors { diagnostics += PolicyTestRun(loaded).diagnostics }
        let errors = diagnostics.filter { $0.severity == .error }
        guard errors.isEmpty else {
            try DescriptorOutput.write(Array(errors.map(\.text).joined().utf8))
            throw ExitCode.failure
        }
        let sources = loaded.files.map { file in
            PolicyBundle.Source(
                level: file.level, name: file.baseName, bytes: file.source.bytes)
        }
        let bundle = try PolicyBundle(
            loaded.policy, summary: summary(of: loaded), sources: sources)
        try DescriptorOutput.write(bundle.bytes)
    }

    private func summary(of loaded: LoadedPolicies) -> String {
        let files = loaded.files.filter { !$0.isMask }.map { file in
            "\(file.source.path): \(PolicyOutput.count(file.ruleCount, "rule"))"
        }
        let replaced = loaded.replacements.map { "replaced: \($0.old) by \($0.new)" }
        let weakened = loaded.weakened.map { "weakened: \($0.words)" }
        return (files + replaced + weakened).joined(separator: "\n")
    }
}

extension LoadedPolicies.Weakening {
    /// The lost file or rule, its replacement, and the rules that were lost with it.
    var words: String {
        let names = lost.prefix(Self.mostNamed).map(\.string).joined(separator: ", ")
        let more = lost.count - Self.mostNamed
        return "\(what) by \(by); no longer in force: \(names)"
            + (more > 0 ? " and \(more) more" : "")
    }

    private static let mostNamed = 20
}
