// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// `keychainctl` itself.
package struct KeychainCommand: ParsableCommand {
    package static let configuration: CommandConfiguration = whole(
        policy: PolicyPlaceholder.self)

    package init() {}

    /// The whole of it, for the program that has the commands of `policy`.
    package static func whole(
        policy: any ParsableCommand.Type
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "keychainctl",
            abstract: "Everything a person does with keychains.",
            discussion: """
                Secrets and passwords are read from standard input or asked for on the terminal; \
                they are never arguments. See keychainctl(1) for exit codes and the keys of --json.
                """,
            subcommands: [
                StatusCommand.self, CreateCommand.self, UnlockCommand.self, LockCommand.self,
                SettingsCommand.self, DefaultKeychainCommand.self, ListKeychainsCommand.self,
                SetPasswordCommand.self, GetCommand.self, SetCommand.self, DeleteCommand.self,
                ListCommand.self, SearchCommand.self, TreeCommand.self, RunCommand.self,
                InjectCommand.self, ImportCommand.self, ExportCommand.self, AddCommand.self,
                UpdateCommand.self, AccessCommand.self, SecretsCommand.self,
                PrompterCommand.self, AuditCommand.self, policy, BackupCommand.self,
                RestoreCommand.self, DoctorCommand.self, ProtectorCommand.self,
            ])
    }

    package static let policyAbstract = "Check, test and explain policies."
}

/// Stands for `policy` where commands are listed; `keychainctl-policy` has what is behind it.
struct PolicyPlaceholder: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: KeychainCommand.policyAbstract)
}
