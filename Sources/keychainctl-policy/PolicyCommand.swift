// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands

/// `keychainctl policy`: works on files; only `status` and `reload` ask the daemon.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: KeychainCommand.policyAbstract,
        discussion: """
            Ends with 0 when all is well, with 1 when a policy is mistaken, and with 2 when the \
            command is.
            """,
        subcommands: [
            PolicyCheckCommand.self,
            PolicyLintCommand.self,
            PolicyFormatCommand.self,
            PolicyInitCommand.self,
            PolicyTestCommand.self,
            PolicyMutateCommand.self,
            PolicyDecideCommand.self,
            PolicyExplainCommand.self,
            PolicyFactsCommand.self,
            PolicySimulateCommand.self,
            PolicyStatusCommand.self,
            PolicySchemaCommand.self,
            PolicyServerCommand.self,
            PolicyGraphCommand.self,
            PolicyReloadCommand.self,
            PolicyLogCommand.self,
            PolicyCompileCommand.self,
            PolicyWhoCommand.self,
            PolicyCanCommand.self,
            PolicyDiffCommand.self,
            PolicyReplayCommand.self,
            PolicySuggestCommand.self,
        ])
}
