// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// `keychainctl` itself.
struct KeychainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychainctl",
        abstract: "Everything a person does with keychains.",
        discussion: """
            Secrets and passwords are read from standard input or asked for on the terminal; they \
            are never arguments. See keychainctl(1) for exit codes and the keys of --json.
            """,
        subcommands: [
            StatusCommand.self, CreateCommand.self, UnlockCommand.self, LockCommand.self,
            SettingsCommand.self, DefaultKeychainCommand.self, ListKeychainsCommand.self,
            SetPasswordCommand.self, AddCommand.self, GetCommand.self,
            ListCommand.self, UpdateCommand.self, DeleteCommand.self, AccessCommand.self,
            PrompterCommand.self, AuditCommand.self, PolicyCommand.self, BackupCommand.self,
            RestoreCommand.self, DoctorCommand.self, ProtectorCommand.self,
        ])
}
