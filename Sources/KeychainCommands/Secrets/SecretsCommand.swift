// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import Terminal

struct SecretsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets",
        abstract: "Offer the keychain to programs that use the Secret Service.",
        discussion: """
            Chromium, Electron's programs, libsecret's, Python's keyring and others keep their \
            secrets by org.freedesktop.secrets on the user's bus. These commands say which program \
            answers to that name there, for this user alone.
            """,
        subcommands: [
            SecretsStatusCommand.self, SecretsEnableCommand.self, SecretsDisableCommand.self,
            SecretsAccessCommand.self, FormerSecretsCommand.self,
        ])
}

struct SecretsEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Have the bus start keychain-secrets from the next login on.",
        discussion: "Files in your own folders take the place of the system's.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: nil, asJSON: output.json)
        do throws(CommandFailure) { try SecretsFiles().enable() } catch {
            throw keychain.failure(error)
        }
        if output.json {
            JSONOutput.write(SecretsStatusRecord(try Self.status(keychain)))
        } else {
            StandardStream.output.write(
                "Log out and in again: a service that runs now is not ended.\n")
        }
    }

    static func status(_ keychain: Keychain) throws -> SecretsStatus {
        do throws(CommandFailure) { return try SecretsStatus() } catch {
            throw keychain.failure(error)
        }
    }
}

struct SecretsDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Take back what enable wrote.",
        discussion: "The secrets stay in the keychain.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: nil, asJSON: output.json)
        do throws(CommandFailure) { try SecretsFiles().disable() } catch {
            throw keychain.failure(error)
        }
        let status = try SecretsEnableCommand.status(keychain)
        if output.json { return JSONOutput.write(SecretsStatusRecord(status)) }
        StandardStream.output.write(
            status.isEnabled
                ? "It is enabled for all users of this machine: the bus starts it nonetheless.\n"
                : "Log out and in again: until then keychain-secrets goes on where it runs.\n")
    }
}

struct SecretsStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which program answers on this user's bus.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: nil, asJSON: output.json)
        let status = try SecretsEnableCommand.status(keychain)
        if output.json {
            JSONOutput.write(SecretsStatusRecord(status))
        } else {
            StandardStream.output.write(status.text)
        }
    }
}
