// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct DefaultKeychainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "default-keychain",
        abstract: "Show or set the keychain to which new items are added.",
        discussion: "It counts where a program names no keychain.")

    @Flag(name: .shortAndLong, help: "Set it; without a name there is none from now on.")
    var set = false

    @Argument(help: "The keychain's name.")
    var name: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard set || name == nil else { throw ValidationError("To set it takes --set.") }
    }

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        let preferences = try keychain.preferences(
            set ? .defaultKeychain(name) : nil,
            to: set ? "set the default keychain" : "learn the default keychain")
        let now = preferences.defaultKeychain?.description
        if output.json {
            JSONOutput.write(DefaultKeychainRecord(keychain: now))
        } else if !set {
            StandardStream.output.write(now.map { $0 + "\n" } ?? "")
        } else if let now, !preferences.searchList.contains(where: { $0.description == now }) {
            tellUnsearched(now, preferences.searchList.map(\.description))
        }
    }

    /// What is added without a name would not be found without one.
    private func tellUnsearched(_ name: String, _ searched: [String]) {
        let list = (searched + [name]).joined(separator: " ")
        StandardStream.error.write(
            """
            keychainctl: The keychain “\(name)” is added to, and not searched; keychainctl \
            list-keychains -s \(list) changes that.

            """)
    }
}

/// What `default-keychain --json` says; absent where there is none.
private struct DefaultKeychainRecord: Encodable {
    let keychain: String?
}

extension Keychain {
    func preferences(
        _ change: KeychainPreferencesChange?, to task: String
    ) throws(CommandFailure) -> KeychainPreferences {
        try ask(Preferences(change), to: task)
    }
}
