// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Terminal

/// All commands, in the order in which a name's beginning is looked up.
package enum CommandTable {
    /// The first command whose name begins with the word.
    static func command(_ word: String) -> Command? {
        word.isEmpty ? nil : all.first { $0.name.hasPrefix(word) }
    }

    private static let help = Command(
        "help", "[command...]", "Show all commands, or how some are used."
    ) { options, session throws(CommandFailure) in
        guard !options.words.isEmpty else {
            session.output.write(list)
            return
        }
        for word in options.words {
            guard let command = CommandTable.command(word) else {
                throw .said(
                    "security: unknown command \"\(PlainText.line(word))\"\n", exit: 1)
            }
            session.output.write(command.usage)
        }
    }

    private static var list: String {
        all.map { command in
            let blanks = String(repeating: " ", count: max(0, 36 - command.name.utf8.count))
            return "    \(command.name)\(blanks) \(command.description)\n"
        }.joined()
    }

    package static let all: [Command] =
        [help] + keychains + passwords + keysAndCertificates + trust + rest

    private static let smartcards = "keychainctl protector has security keys and TPMs"

    private static let keychains: [Command] = [
        SearchListCommands.list,
        .absent("list-smartcards", "Show smart cards.", smartcards),
        SearchListCommands.byDefault, SearchListCommands.login, KeychainFileCommands.create,
        KeychainFileCommands.delete, KeychainFileCommands.lock, KeychainFileCommands.unlock,
        SettingsCommands.set, KeychainFileCommands.setPassword, SettingsCommands.show,
        DumpKeychain.command,
        .absent(
            "create-keypair", "Create a key pair.",
            "openssl genpkey makes a key, and security import adds it"),
    ]

    private static let passwords: [Command] = [
        AddPassword.generic(), AddPassword.internet(), CertificateChanges.add,
        FindPassword.command(
            "find-generic-password", .genericPassword,
            "Find a generic password; -g shows its secret as well, -w its secret alone."),
        DeletePassword.command(
            "delete-generic-password", .genericPassword, "Delete the first generic password."),
        PartitionList.command(
            "set-generic-password-partition-list", .genericPassword,
            "Accept a partition list for generic passwords; it is not kept."),
        FindPassword.command(
            "find-internet-password", .internetPassword,
            "Find an internet password; -g shows its secret as well, -w its secret alone."),
        DeletePassword.command(
            "delete-internet-password", .internetPassword, "Delete the first internet password."),
        PartitionList.command(
            "set-internet-password-partition-list", .internetPassword,
            "Accept a partition list for internet passwords; it is not kept."),
    ]

    private static let preferences = "programs choose their identities themselves here"

    private static let keysAndCertificates: [Command] = [
        KeyCommands.find, KeyCommands.setPartitionList, FindCertificate.command,
        FindIdentity.command, CertificateChanges.deleteCertificate,
        CertificateChanges.deleteIdentity,
        .absent("set-identity-preference", "Set a preferred identity.", preferences),
        .absent("get-identity-preference", "Show a preferred identity.", preferences),
        .absent("create-db", "Create a database.", "security create-keychain makes a keychain"),
        ExportCommand.command, ImportCommand.command,
        .absent("export-smartcard", "Export from a smart card.", smartcards),
        .absent("cms", "Encode or decode CMS messages.", "openssl cms does that"),
        .absent("install-mds", "Install module directories.", "there are no such modules here"),
    ]

    private static let anchors =
        "this machine's list counts: /usr/local/share/ca-certificates and update-ca-certificates(8)"

    private static let trust: [Command] = [
        .absent("add-trusted-cert", "Add trusted certificates.", anchors),
        .absent("remove-trusted-cert", "Remove trusted certificates.", anchors),
        .absent("dump-trust-settings", "Show trust settings.", anchors),
        .absent("user-trust-settings-enable", "Enable trust settings of users.", anchors),
        .absent("trust-settings-export", "Export trust settings.", anchors),
        .absent("trust-settings-import", "Import trust settings.", anchors),
        VerifyCertificate.command, Rights.authorize, Rights.database,
        .absent(
            "execute-with-privileges", "Run a program with privileges.",
            "pkexec(1) and sudo(8) do that"),
    ]

    private static let programs = "this is about programs that Apple signed"

    private static let rest: [Command] = [
        .absent("leaks", "Look for leaks.", "valgrind(1) does that"),
        ErrorCommand.command,
        .absent(
            "create-filevaultmaster-keychain", "Create a keychain for FileVault.",
            "cryptsetup(8) keeps recovery keys of disks"),
        .absent("smartcards", "Enable or disable smart cards.", smartcards),
        .absent("translocate-create", "Translocate a program.", programs),
        .absent("translocate-policy-check", "Look at translocation.", programs),
        .absent("translocate-status-check", "Look at translocation.", programs),
        .absent("translocate-original-path", "Show a path before translocation.", programs),
        .absent("requirement-evaluate", "Evaluate a code requirement.", programs),
        .absent("filevault", "Look after FileVault.", "cryptsetup(8) does that"),
        .absent("platformsso", "Look after Platform SSO.", "PAM and sssd(8) do that"),
        ItemCommand.command,
    ]
}
