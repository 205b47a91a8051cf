// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Close a keychain's when-unlocked items everywhere.")

    @Argument(help: "The keychain's name; the login keychain when left out.")
    var name: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let shown = name ?? KeychainName.login.description
        try Keychain(name: name, asJSON: output.json)
            .ask(Lock(keychain: name), to: "lock the keychain “\(shown)”")
        if output.json { JSONOutput.write(DoneRecord()) }
    }
}
