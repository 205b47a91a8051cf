// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Look for a word in what items are called.",
        discussion: """
            In names, accounts, labels, comments and the like, in capitals or not; never in secrets.
            """)

    @Argument(help: ArgumentHelp("What to look for.", valueName: "word"))
    var word: String

    @Option(help: "The keychain; those of the search list when left out.")
    var keychain: String?
    @Flag(help: "Never ask the user.")
    var noPrompt = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !word.isEmpty else { throw ValidationError("The word to look for is empty.") }
    }

    func run() throws {
        let all = ItemSelection(
            wanted: WantedItems(keychain: keychain, mayAsk: !noPrompt), asJSON: output.json)
        let found = try ListedItems(all).matching(to: "search the items")
        ItemListing(found.filter { $0.says(word.lowercased()) }, asJSON: output.json).write()
    }
}

extension Item {
    private static let searched: [AttributeName] = [
        .label, .service, .account, .server, .path, .comment, .itemDescription, .securityDomain,
    ]

    /// Whether one of its names has the word in it, which is in small letters.
    func says(_ word: String) -> Bool {
        Self.searched.contains { name in
            guard case .string(let text)? = attributes[name] else { return false }
            return text.lowercased().contains(word)
        }
    }
}
