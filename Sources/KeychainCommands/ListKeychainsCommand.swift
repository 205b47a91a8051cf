// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

struct ListKeychainsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list-keychains",
        abstract: "Show or set the keychains that are searched, in their order.",
        discussion: """
            They count where a program names no keychain. keychainctl status shows all that there \
            are.
            """)

    @Flag(name: .shortAndLong, help: "Set them; without names nothing is searched from now on.")
    var set = false

    @Argument(help: "The keychains' names.")
    var names: [String] = []

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard set || names.isEmpty else { throw ValidationError("To set them takes --set.") }
    }

    func run() throws {
        let mistaken = names.first { KeychainName($0) == nil }
        let now = try Keychain(name: mistaken, asJSON: output.json).preferences(
            set ? .searchList(names) : nil,
            to: set ? "set the search list" : "learn the search list"
        ).searchList.map(\.description)
        if output.json {
            JSONOutput.write(["keychains": now])
        } else if !set {
            StandardStream.output.write(now.map { $0 + "\n" }.joined())
        } else {
            try tellMissing(now)
        }
    }

    /// A list may come before what it names; or a name is mistyped.
    private func tellMissing(_ names: [String]) throws(CommandFailure) {
        let known = try Keychain(name: nil, asJSON: false).status().keychains.map(\.name)
        for name in names where !known.contains(name) {
            StandardStream.error.write(
                "keychainctl: There is no keychain “\(name)” yet; it is searched once there is.\n")
        }
    }
}
